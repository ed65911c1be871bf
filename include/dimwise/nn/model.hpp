// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/model.hpp -- parallel walks over several models, and conversion of a model to another element type.
//
// Layer: nn. A model is a module, a tensor, or a tuple of models. Its parameters are its floating-point tensors; other
// members are copied.
// Tests: tests/nn/model.test.cpp
//
//   auto precise = converted<double>(model);
//   for_each_parameter_of([](const std::string& name, auto& to, const auto& from) { … }, model, gradient);
#pragma once

#include <dimwise/nn/parameters.hpp>
#include <dimwise/nn/parameters/rebind.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace dimwise {

namespace detail {

// Whether X is a parameter, which a walk visits.
template <class M>
inline constexpr bool is_parameter = false;
template <class T, class... D>
inline constexpr bool is_parameter<tensor<T, D...>> = real_element<T> && valid_tensor<T, D...>;
using nn::detail::is_sequence;
using nn::detail::is_tuple;
using nn::detail::part_at;
using nn::detail::part_count;
using nn::detail::walk_together;

// Resizes the lists in `to` to the lengths of those in `from`.
template <class To, class From>
void match_lengths(To& to, const From& from) {
  if constexpr (is_sequence<To>) {
    if constexpr (requires { to.resize(from.size()); }) { to.resize(from.size()); }
    for (std::size_t i = 0; i < from.size(); ++i) { match_lengths(to[i], from[i]); }
  } else if constexpr (is_tuple<To> || nn::module<To>) {
    each_index<part_count<To>()>(
        [&](auto i) __attribute__((always_inline)) { match_lengths(part_at<i>(to), part_at<i>(from)); });
  }
}

// The first two parts of models walked together that are not alike, as a list: other layers, or parameters of other
// dimensions. Settings may be anything.
template <class A, class B>
consteval auto unlike_parts();
template <class A, class B>
consteval bool has_same_names() {
  if constexpr (nn::module<A>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      using nn::detail::members_of;
      return ((std::string_view(members_of<A>::template name<I>) == members_of<B>::template name<I>) && ...);
    }(std::make_index_sequence<part_count<A>()>{});
  } else {
    return true;
  }
}
template <std::size_t I, class Model>
using model_part = element_t<I, nn::detail::parts_t<Model>>;
template <std::size_t I, class A, class B>
consteval auto unlike_parts_from() {
  if constexpr (I == part_count<A>()) {
    return list<>{};
  } else {
    using here = decltype(unlike_parts<model_part<I, A>, model_part<I, B>>());
    if constexpr (here::size > 0) {
      return here{};
    } else {
      return unlike_parts_from<I + 1, A, B>();
    }
  }
}
template <class A, class B>
consteval auto unlike_parts() {
  constexpr bool parameters = is_parameter<A> && is_parameter<B>;
  constexpr bool groups = (is_tuple<A> && is_tuple<B>) || (nn::module<A> && nn::module<B>);
  constexpr bool settings = !is_parameter<A> && !is_parameter<B> && !is_sequence<A> && !is_sequence<B> &&
                            !is_tuple<A> && !is_tuple<B> && !nn::module<A> && !nn::module<B>;
  if constexpr (std::is_same_v<A, B> || settings) {
    return list<>{};
  } else if constexpr (is_sequence<A> && is_sequence<B>) {
    return unlike_parts<typename A::value_type, typename B::value_type>();
  } else if constexpr (groups) {
    if constexpr (part_count<A>() != part_count<B>()) {
      return list<A, B>{};
    } else if constexpr (!has_same_names<A, B>()) {
      return list<A, B>{};
    } else {
      return unlike_parts_from<0, A, B>();
    }
  } else if constexpr (parameters) {
    return std::conditional_t<same_set<dims_t<shape_of<A>>, dims_t<shape_of<B>>>, list<>, list<A, B>>{};
  } else {
    return list<A, B>{};
  }
}
template <class Op, class A, class B>
consteval auto judge_models(list<A, B>) {
  return answer<ERROR_R22_models_have_other_parts<Op, over<A>, over<B>>>{};
}
template <class Op>
consteval auto judge_models(list<>) {
  return answer<accepted<shape<>>>{};
}
// Whether models have one structure (R22).
template <class Op, class First>
consteval auto models_verdict() {
  return judge_models<Op>(list<>{});
}
template <class Op, class First, class Second, class... More>
consteval auto models_verdict() {
  using verdict = decltype(judge_models<Op>(unlike_parts<First, Second>()));
  if constexpr (allowed<typename verdict::type>) {
    return models_verdict<Op, First, More...>();
  } else {
    return verdict{};
  }
}
struct real_parameter {
  template <class X>
  static constexpr bool is = is_parameter<X>;
};
template <class F, class First, class... More>
consteval auto judge_walk() {
  using models =
      decltype(models_verdict<op::for_each_parameter_of, std::remove_const_t<First>, std::remove_const_t<More>...>());
  if constexpr (refused<typename models::type>) {
    return models{};
  } else if constexpr (!nn::detail::has_walked_parameters<std::remove_const_t<First>>()) {
    return answer<nn::detail::not_a_module<op::for_each_parameter_of, std::remove_const_t<First>>>{};
  } else {
    using calls = unique_t<decltype(nn::detail::walked_calls<real_parameter, First, More...>())>;
    return nn::detail::judge_calls<op::for_each_parameter_of, const F>(calls{});
  }
}
template <class F, class First, class... More>
using walk_verdict = typename decltype(judge_walk<F, First, More...>())::type;

// Calls f(name, parameter…) for the corresponding parameters of models of one structure.
template <class F, class First, class... More>
void each_named_parameter_of(const F& f, First& first, More&... more) {
  walk_together("", [&](const std::string& name, auto& part, auto&... parts) {
    if constexpr (is_parameter<std::remove_cvref_t<decltype(part)>>) { f(name, part, parts...); }
  }, first, more...);
}
// Calls f(parameter…) for the corresponding parameters of models of one structure. Does not allocate.
template <class F, class First, class... More>
void each_parameter_of(const F& f, First& first, More&... more) {
  nn::detail::walk_called(nn::detail::without_names{}, [&](nn::detail::without_names, auto& part, auto&... parts) {
    if constexpr (is_parameter<std::remove_cvref_t<decltype(part)>>) { f(part, parts...); }
  }, first, more...);
}

}  // namespace detail

/// Calls `f(name, parameter…)` for the corresponding parameters of models of one structure. Throws `extent_error`
/// before the first call if lists of layers differ in length. Rejects a function with other parameters (R21), and
/// models with other layers or parameters of other dimensions (R22).
template <class F, class First, class... More>
  requires allowed<detail::walk_verdict<F, First, More...>>
void for_each_parameter_of(const F& f, First& first, More&... more) {
  detail::each_named_parameter_of(f, first, more...);
}
template <class F, class First, class... More, class Error = detail::walk_verdict<F, First, More...>>
  requires refused<Error>
Error for_each_parameter_of(const F& f, First& first, More&... more) DIMWISE_DETAIL_REFUSES_LAMBDAS;
DIMWISE_DETAIL_MISUSED(for_each_parameter_of)

namespace detail {
// A model that holds a rejected type stays as it is.
template <class T, class M>
using converted_model =
    typename std::conditional_t<nn::detail::holds_refused<M>(), std::type_identity<M>, rebound<T, M>>::type;
}  // namespace detail

/// The model with parameters converted to T; other members are copied.
template <class T, class M>
[[nodiscard]] detail::converted_model<T, M> converted(const M& m) {
  static_assert(nn::detail::all_members_are_named<M>());
  detail::converted_model<T, M> to;
  detail::match_lengths(to, m);
  detail::walk_together("", [](const std::string&, auto& part, const auto& from) {
    if constexpr (detail::is_parameter<std::remove_cvref_t<decltype(from)>>) {
      using To = std::remove_cvref_t<decltype(part)>;
      auto fresh = To::for_overwriting(from.extents());
      auto* const x = fresh.overwrite();
      for (std::size_t i = 0; i < from.size(); ++i) { x[i] = static_cast<typename To::value_type>(from.data()[i]); }
      part = fresh;
    } else if constexpr (!nn::detail::holds_refused<std::remove_cvref_t<decltype(from)>>()) {
      part = from;
    }
  }, to, m);
  return to;
}

}  // namespace dimwise
