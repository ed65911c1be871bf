// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/parameters.hpp -- named walks over the parameters of a module, and their count and size in bytes.
//
// Layer: nn. A module is a plain struct whose members are tensors and modules, listed in `nn::member_list`.
// Tests: tests/nn/parameters.test.cpp
//
//   for_each_parameter(layer, [](const std::string& name, auto& tensor) { … });     // "attention.query.weight", …
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/nn/members.hpp>
#include <dimwise/tensor/misused.hpp>
#include <dimwise/tensor/tensor.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace dimwise::op {
struct for_each_parameter;
struct for_each_parameter_of;
struct parameter_count;
struct parameter_bytes;
}  // namespace dimwise::op

namespace dimwise::nn {

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

// The number of parts of a module (named) or of a tuple of models (numbered).
template <class M>
consteval std::size_t part_count() {
  if constexpr (is_tuple<M>) {
    return std::tuple_size_v<M>;
  } else {
    return members_of<M>::count;
  }
}
// Their types.
template <class M>
struct parts_of {
  using type = typename members_of<M>::types;
};
template <class... M>
struct parts_of<std::tuple<M...>> {
  using type = list<M...>;
};
template <class M>
using parts_t = typename parts_of<M>::type;
template <std::size_t I, class M>
[[gnu::always_inline]] inline auto& part_at(M& m) {
  using model = std::remove_const_t<M>;
  if constexpr (is_tuple<model>) {
    return std::get<I>(m);
  } else {
    return m.*members_of<model>::template pointer<I>;
  }
}
// Omits names: a std::string allocates, which an optimiser step that has begun must not do.
struct without_names {};
constexpr without_names joined_name(without_names, std::size_t) { return {}; }
template <std::size_t, class>
constexpr without_names part_name(without_names) {
  return {};
}
// The name of a member inside the module named `whole`.
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
    return joined_name(whole, members_of<M>::template name<I>);
  }
}

// Whether a walk finds parameters in X.
template <class X>
consteval bool has_walked_parameters() {
  if constexpr (is_tensor<X>) {
    return true;
  } else if constexpr (is_sequence<X>) {
    return has_walked_parameters<typename X::value_type>();
  } else if constexpr (is_tuple<X> || module<X>) {
    return []<class... Part>(list<Part...>) { return (has_walked_parameters<Part>() || ...); }(parts_t<X>{});
  } else {
    return false;
  }
}
// Whether X is a module, or has a part, whose type was rejected where it was written: what uses X adds no second error.
template <class X>
consteval bool holds_refused() {
  if constexpr (is_tensor<X>) {  // first: the other questions look into its class
    return dimwise::detail::is_refused<X>;
  } else if constexpr (is_sequence<X>) {
    return holds_refused<typename X::value_type>();
  } else if constexpr (is_tuple<X> || module<X>) {
    return std::is_base_of_v<dimwise::detail::refused_members<false>, X> ||
           []<class... Part>(list<Part...>) { return (holds_refused<Part>() || ...); }(parts_t<X>{});
  } else {
    return dimwise::detail::is_refused<X>;
  }
}
// Whether a member hides parameters from walks: a std::optional of a layer, a pointer to one. They would silently be
// missing in training and in files.
template <class X>
inline constexpr bool hides_parameters = false;
template <class X>
inline constexpr bool hides_parameters<X*> = has_walked_parameters<std::remove_cv_t<X>>();
template <template <class...> class C, class... X>
  requires(!operand<C<X...>> && !is_sequence<C<X...>> && !is_tuple<C<X...>> && !module<C<X...>>)
inline constexpr bool hides_parameters<C<X...>> = (has_walked_parameters<std::remove_cv_t<X>>() || ...);
template <class X>
struct is_a_setting {  // a class, so that the assertion fails once
  static_assert(!hides_parameters<X>,
                "dimwise: a module's layers are members, or in a std::vector, std::array or std::tuple (R21)");
  static constexpr bool value = !hides_parameters<X>;
};

// Whether M is larger than its listed members in any order, each with the padding that its alignment may need. The
// excess is a member that no walk finds.
template <class M>
consteval bool has_unnamed_members() {
  return []<class... Part>(list<Part...>) {
    std::size_t alignment = std::is_polymorphic_v<M> ? alignof(void*) : 1;
    const auto larger = [](std::size_t a, std::size_t b) { return a > b ? a : b; };
    ((alignment = larger(alignment, alignof(Part))), ...);
    const auto rounded_up = [](std::size_t size, std::size_t to) { return (size + to - 1) / to * to; };
    std::size_t all = std::is_polymorphic_v<M> ? rounded_up(sizeof(void*), alignment) : 0;
    ((all += rounded_up(sizeof(Part), alignment)), ...);
    return sizeof(M) > rounded_up(larger(all, 1), alignof(M));
  }(parts_t<M>{});
}
template <class M>
struct names_all_members {  // a class, so that the assertion fails once
  static_assert(!has_unnamed_members<M>(),
                "dimwise: a module lists all its members; a member that is missing in the list is neither "
                "trained nor copied to the model that a loss is given (R21)");
  static constexpr bool value = !has_unnamed_members<M>();
};
// The same check for M and all modules in it.
template <class M>
consteval bool all_members_are_named() {
  if constexpr (is_sequence<M>) {
    return all_members_are_named<typename M::value_type>();
  } else if constexpr (is_tuple<M> || (module<M> && !is_tensor<M>)) {
    const bool parts = []<class... Part>(list<Part...>) {
      return (all_members_are_named<Part>() && ...);
    }(parts_t<M>{});
    if constexpr (module<M>) {
      return names_all_members<M>::value && parts;
    } else {
      return parts;
    }
  } else {
    return true;
  }
}

// Parameter types other than tensors: weights in blocks (weight.hpp) declare themselves.
template <class X>
inline constexpr bool is_any_parameter =
    (is_tensor<X> && !dimwise::detail::is_refused<X>) || requires { typename X::numbers_type; };

// Calls f(part) for every member of a module.
template <class Module, class F>
void each_member(Module& m, const F& f) {
  each_index<part_count<std::remove_const_t<Module>>()>([&](auto i)
                                                            __attribute__((always_inline)) { f(part_at<i>(m)); });
}

// Lists in a parallel walk must have equal lengths: past the end of the shorter one lies other memory.
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

// Calls f(name, part…) for the corresponding tensors and settings of models of one structure. `name` is the path so
// far, or `without_names`.
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

// A module, or a list or tuple of modules.
template <class M>
concept modules = module<M> || is_sequence<M> || is_tuple<M>;

// The calls `f(name, part…)` of a walk over models of one structure: a list of the parts of each. `Walked` says which
// parts are parameters; others are not given to the function.
template <class Walked, class First, class... More>
consteval auto walked_calls();
template <class Walked, std::size_t I, class... Models>
using calls_of_part =
    decltype(walked_calls<Walked, std::remove_reference_t<decltype(part_at<I>(std::declval<Models&>()))>...>());
template <class Model>
using layer_of =
    std::conditional_t<std::is_const_v<Model>, const typename Model::value_type, typename Model::value_type>;
template <class Walked, class First, class... More>
consteval auto walked_calls() {
  using M = std::remove_const_t<First>;
  if constexpr (is_sequence<M>) {
    return walked_calls<Walked, layer_of<First>, layer_of<More>...>();
  } else if constexpr (is_tuple<M> || module<M>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return join_t<calls_of_part<Walked, I, First, More...>...>{};
    }(std::make_index_sequence<part_count<M>()>{});
  } else {
    return list_if<Walked::template is<M>, list<First, More...>>{};
  }
}
// The verdict on the first call that F does not take.
template <class Op, class F>
consteval auto judge_calls(list<>) {
  return answer<accepted<shape<>>>{};
}
template <class Op, class F, class... Parts, class... More>
consteval auto judge_calls(list<list<Parts...>, More...>) {
  if constexpr (std::is_invocable_v<F&, const std::string&, Parts&...>) {
    return judge_calls<Op, F>(list<More...>{});
  } else {
    return answer<ERROR_R21_walk_calls_its_function_with_a_name_and_parameters<Op, Parts...>>{};
  }
}
struct any_parameter {
  template <class X>
  static constexpr bool is = is_any_parameter<X>;
};
template <class Op, class M>
using not_a_module = ERROR_R21_model_is_a_module_with_named_members<Op, M>;
template <class F, class Module>
consteval auto judge_walk() {
  using M = std::remove_const_t<Module>;
  if constexpr (!modules<M>) {
    return answer<not_a_module<op::for_each_parameter, M>>{};
  } else {
    return judge_calls<op::for_each_parameter, F>(unique_t<decltype(walked_calls<any_parameter, Module>())>{});
  }
}
template <class F, class Module>
using walk_verdict = typename decltype(judge_walk<F, Module>())::type;

// Calls f(name, parameter) for every parameter.
template <class Module, class F>
void each_parameter(Module& m, F&& f) {
  walk_together("", [&f](const std::string& name, auto& part) {
    if constexpr (is_any_parameter<std::remove_cvref_t<decltype(part)>>) { f(name, part); }
  }, m);
}

}  // namespace detail

/// Calls `f(name, tensor)` for every parameter of `m`, including those of nested modules. Names are joined by dots;
/// elements of a sequence or tuple are named by their index. Rejects functions with other parameters, and types that
/// are not modules (R21).
template <class Module, class F>
  requires allowed<detail::walk_verdict<F, Module>>
void for_each_parameter(Module& m, F f) {
  detail::each_parameter(m, f);
}
template <class Module, class F, class Error = detail::walk_verdict<F, Module>>
  requires refused<Error>
Error for_each_parameter(Module& m, F f) DIMWISE_DETAIL_REFUSES_LAMBDAS;
DIMWISE_DETAIL_MISUSED(for_each_parameter)

/// The number of elements of all parameters.
template <detail::modules M>
[[nodiscard]] std::size_t parameter_count(const M& m) {
  std::size_t n = 0;
  detail::each_parameter(m, [&](const std::string&, const auto& t) { n += t.size(); });
  return n;
}
template <class M, class Error = detail::not_a_module<op::parameter_count, M>>
  requires(!detail::modules<M>)
Error parameter_count(const M& m);

namespace detail {

// The size of a parameter in bytes.
template <class Parameter>
std::size_t bytes_of(const Parameter& t) {
  if constexpr (is_tensor<Parameter>) {
    return t.size() * sizeof(typename Parameter::value_type);
  } else {
    return t.bytes();
  }
}

}  // namespace detail

/// The size of all parameters in bytes.
template <detail::modules M>
[[nodiscard]] std::size_t parameter_bytes(const M& m) {
  std::size_t n = 0;
  detail::each_parameter(m, [&](const std::string&, const auto& t) { n += detail::bytes_of(t); });
  return n;
}
template <class M, class Error = detail::not_a_module<op::parameter_bytes, M>>
  requires(!detail::modules<M>)
Error parameter_bytes(const M& m);

}  // namespace dimwise::nn
