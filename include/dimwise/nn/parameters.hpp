// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/parameters.hpp -- the parameters of a module: walked by name, and counted.
//
// Layer: nn. A module is a plain struct whose members are tensors and modules, named by BOOST_HANA_DEFINE_STRUCT.
// Tests: tests/nn/parameters.test.cpp
//
//   for_each_parameter(layer, [](const std::string& name, auto& tensor) { … });     // "attention.query.weight", …
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/tensor/tensor.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/at.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/length.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace dimwise::nn {

/// A struct whose members Boost.Hana knows.
template <class M>
concept module = boost::hana::Struct<M>::value;

namespace detail {

using namespace dimwise::detail;

template <class M>
inline constexpr bool is_sequence = false;
template <class M, class A>
inline constexpr bool is_sequence<std::vector<M, A>> = true;
template <class M, std::size_t N>
inline constexpr bool is_sequence<std::array<M, N>> = true;

template <class M>
inline constexpr bool is_tuple = false;
template <class... M>
inline constexpr bool is_tuple<std::tuple<M...>> = true;

// The parts of a module, which Hana names, or of a tuple of models, which have numbers.
template <class M>
consteval std::size_t part_count() {
  if constexpr (is_tuple<M>) {
    return std::tuple_size_v<M>;
  } else {
    return decltype(boost::hana::length(boost::hana::accessors<M>()))::value;
  }
}
// Constants, so that a walk calls none of Hana's functions when the program runs: a compiler would make seven a member.
template <std::size_t I, class M>
inline constexpr auto accessor_of = boost::hana::second(boost::hana::at_c<I>(boost::hana::accessors<M>()));
template <std::size_t I, class M>
inline constexpr const char* member_name =
    boost::hana::to<const char*>(boost::hana::first(boost::hana::at_c<I>(boost::hana::accessors<M>())));

// What Hana's macros write is a type with a pointer to the member.
template <class Accessor>
inline constexpr std::nullptr_t member_pointer = nullptr;
template <template <class T, T> class Accessor, class T, T Pointer>
inline constexpr T member_pointer<Accessor<T, Pointer>> = Pointer;
template <std::size_t I, class M>
[[gnu::always_inline]] inline auto& part_at(M& m) {
  using model = std::remove_const_t<M>;
  if constexpr (is_tuple<model>) {
    return std::get<I>(m);
  } else {
    constexpr auto pointer = member_pointer<std::remove_const_t<decltype(accessor_of<I, model>)>>;
    if constexpr (std::is_member_object_pointer_v<decltype(pointer)>) {
      return m.*pointer;
    } else {
      return accessor_of<I, model>(m);
    }
  }
}
// Names that a walk does not need: a std::string takes memory, which a step that has begun must not ask for.
struct without_names {};
constexpr without_names joined_name(without_names, std::size_t) { return {}; }
template <std::size_t, class>
constexpr without_names part_name(without_names) {
  return {};
}
// The name of a part inside the whole that is called `whole`.
inline std::string joined_name(const std::string& whole, const char* member) {
  return whole.empty() ? member : whole + "." + member;
}
inline std::string joined_name(const std::string& whole, std::size_t number) {
  return joined_name(whole, std::to_string(number).c_str());
}
template <std::size_t I, class M>
[[gnu::always_inline]] inline std::string part_name(const std::string& whole) {
  if constexpr (is_tuple<M>) {
    return joined_name(whole, I);
  } else {
    return joined_name(whole, member_name<I, M>);
  }
}

// Whether X has parameters that are walked.
template <class X>
consteval bool has_walked_parameters() {
  if constexpr (is_tensor<X>) {
    return true;
  } else if constexpr (is_sequence<X>) {
    return has_walked_parameters<typename X::value_type>();
  } else if constexpr (is_tuple<X> || module<X>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (has_walked_parameters<std::remove_cvref_t<decltype(part_at<I>(std::declval<X&>()))>>() || ...);
    }(std::make_index_sequence<part_count<X>()>{});
  } else {
    return false;
  }
}
// A member that is not walked, but holds what would be: a std::optional of a layer, a pointer to one. Its parameters
// would be left out of training and of files without a word.
template <class X>
inline constexpr bool hides_parameters = false;
template <class X>
inline constexpr bool hides_parameters<X*> = has_walked_parameters<std::remove_cv_t<X>>();
template <template <class...> class C, class... X>
  requires(!operand<C<X...>> && !is_sequence<C<X...>> && !is_tuple<C<X...>> && !module<C<X...>>)
inline constexpr bool hides_parameters<C<X...>> = (has_walked_parameters<std::remove_cv_t<X>>() || ...);
template <class X>
struct is_a_setting {  // a class, so that it is said once
  static_assert(!hides_parameters<X>,
                "dimwise: a module's layers are members, or in a std::vector, std::array or std::tuple (R21)");
  static constexpr bool value = !hides_parameters<X>;
};

// Whether M is larger than the members that its list names can make it, in any order: each is taken with what its
// alignment may leave free behind it. What is more is a member that no walk finds.
template <class M>
consteval bool has_unnamed_members() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    std::size_t alignment = std::is_polymorphic_v<M> ? alignof(void*) : 1;
    const auto larger = [](std::size_t a, std::size_t b) { return a > b ? a : b; };
    ((alignment = larger(alignment, alignof(std::remove_cvref_t<decltype(part_at<I>(std::declval<M&>()))>))), ...);
    const auto rounded_up = [](std::size_t size, std::size_t to) { return (size + to - 1) / to * to; };
    std::size_t all = std::is_polymorphic_v<M> ? rounded_up(sizeof(void*), alignment) : 0;
    ((all += rounded_up(sizeof(std::remove_cvref_t<decltype(part_at<I>(std::declval<M&>()))>), alignment)), ...);
    return sizeof(M) > rounded_up(larger(all, 1), alignof(M));
  }(std::make_index_sequence<part_count<M>()>{});
}
template <class M>
struct names_all_members {  // a class, so that it is said once
  static_assert(!has_unnamed_members<M>(),
                "dimwise: a module's members are all named in BOOST_HANA_DEFINE_STRUCT; one that is not is neither "
                "trained nor copied to the model that a loss is given (R21)");
  static constexpr bool value = !has_unnamed_members<M>();
};
// The same of M and of all modules in it.
template <class M>
consteval bool all_members_are_named() {
  if constexpr (is_sequence<M>) {
    return all_members_are_named<typename M::value_type>();
  } else if constexpr (is_tuple<M> || (module<M> && !is_tensor<M>)) {
    const bool parts = []<std::size_t... I>(std::index_sequence<I...>) {
      return (all_members_are_named<std::remove_cvref_t<decltype(part_at<I>(std::declval<M&>()))>>() && ...);
    }(std::make_index_sequence<part_count<M>()>{});
    if constexpr (module<M>) {
      return names_all_members<M>::value && parts;
    } else {
      return parts;
    }
  } else {
    return true;
  }
}

// What is a parameter besides tensors: weights in blocks (weight.hpp) say so.
template <class X>
inline constexpr bool is_any_parameter = is_tensor<X> || requires { typename X::numbers_type; };

// f(part) for every member of a module.
template <class Module, class F>
void each_member(Module& m, const F& f) {
  each_index<part_count<std::remove_const_t<Module>>()>([&](auto i)
                                                            __attribute__((always_inline)) { f(part_at<i>(m)); });
}

// Lists that are walked side by side are equally long: behind the end of the shorter one is other memory.
inline void check_same_length(const std::string& name, std::size_t first, std::size_t other) {
  if (first != other) {
    raise<extent_error>(error{} << "a walk over several models: "
                                << (name.empty() ? "the lists" : "the lists `" + name + "`").c_str() << " have "
                                << first << " and " << other << " layers (R15)");
  }
}

inline void check_same_length(without_names, std::size_t first, std::size_t other) {
  check_same_length(std::string(), first, other);
}

// f(name, part…) for every tensor and every setting of models of one structure, side by side. `name` is that of the
// whole until here, or no name at all.
template <class Name, class F, class First, class... More>
void walk_called(const Name& name, const F& f, First& first, More&... more) {
  using M = std::remove_const_t<First>;
  if constexpr (is_sequence<M>) {
    (check_same_length(name, first.size(), more.size()), ...);
    for (std::size_t i = 0; i < first.size(); ++i) { walk_called(joined_name(name, i), f, first[i], more[i]...); }
  } else if constexpr (is_tuple<M> || module<M>) {
    each_index<part_count<M>()>([&](auto i) __attribute__((always_inline)) {
      walk_called(part_name<i, M>(name), f, part_at<i>(first), part_at<i>(more)...);
    });
  } else if constexpr (is_any_parameter<M> || is_a_setting<M>::value) {
    f(name, first, more...);
  }
}
template <class F, class First, class... More>
[[gnu::always_inline]] inline void walk_together(const std::string& name, const F& f, First& first, More&... more) {
  walk_called(name, f, first, more...);
}

// A module, or a list or a tuple of them.
template <class M>
concept modules = module<M> || is_sequence<M> || is_tuple<M>;

}  // namespace detail

/// Calls `f(name, tensor)` for every parameter of `m`, modules within modules included; names are joined by dots, and
/// the i-th module of a sequence or of a tuple is called by its number.
template <class Module, class F>
  requires detail::modules<std::remove_const_t<Module>>
void for_each_parameter(Module& m, F f) {
  detail::walk_together("", [&f](const std::string& name, auto& part) {
    if constexpr (detail::is_any_parameter<std::remove_cvref_t<decltype(part)>>) { f(name, part); }
  }, m);
}

/// The number of all elements of all parameters.
template <detail::modules M>
[[nodiscard]] std::size_t parameter_count(const M& m) {
  std::size_t n = 0;
  for_each_parameter(m, [&](const std::string&, const auto& t) { n += t.size(); });
  return n;
}

namespace detail {

// The memory of a parameter.
template <class Parameter>
std::size_t bytes_of(const Parameter& t) {
  if constexpr (is_tensor<Parameter>) {
    return t.size() * sizeof(typename Parameter::value_type);
  } else {
    return t.bytes();
  }
}

}  // namespace detail

/// The memory of all parameters.
template <detail::modules M>
[[nodiscard]] std::size_t parameter_bytes(const M& m) {
  std::size_t n = 0;
  for_each_parameter(m, [&](const std::string&, const auto& t) { n += detail::bytes_of(t); });
  return n;
}

}  // namespace dimwise::nn
