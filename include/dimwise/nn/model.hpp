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
#include <dimwise/nn/rebind.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace dimwise {

namespace detail {

// Whether X is a parameter, which a walk visits.
template <class M>
inline constexpr bool is_parameter = false;
template <class T, class... D>
inline constexpr bool is_parameter<tensor<T, D...>> = real_element<T>;
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

// Calls f(parameter…) for the corresponding parameters of models of one structure. Does not allocate.
template <class F, class First, class... More>
void each_parameter_of(const F& f, First& first, More&... more) {
  nn::detail::walk_called(nn::detail::without_names{}, [&](nn::detail::without_names, auto& part, auto&... parts) {
    if constexpr (is_parameter<std::remove_cvref_t<decltype(part)>>) { f(part, parts...); }
  }, first, more...);
}

}  // namespace detail

/// Calls `f(name, parameter…)` for the corresponding parameters of models of one structure. Throws `extent_error`
/// before the first call if lists of layers differ in length.
template <class F, class First, class... More>
void for_each_parameter_of(const F& f, First& first, More&... more) {
  detail::walk_together("", [&](const std::string& name, auto& part, auto&... parts) {
    if constexpr (detail::is_parameter<std::remove_cvref_t<decltype(part)>>) { f(name, part, parts...); }
  }, first, more...);
}

/// The model with parameters converted to T; other members are copied.
template <class T, class M>
[[nodiscard]] rebind<T, M> converted(const M& m) {
  static_assert(nn::detail::all_members_are_named<M>());
  rebind<T, M> to;
  detail::match_lengths(to, m);
  detail::walk_together("", [](const std::string&, auto& part, const auto& from) {
    if constexpr (detail::is_parameter<std::remove_cvref_t<decltype(from)>>) {
      using To = std::remove_cvref_t<decltype(part)>;
      auto fresh = To::for_overwriting(from.extents());
      std::transform(from.data(), from.data() + from.size(), fresh.overwrite(),
                     [](auto x) { return static_cast<typename To::value_type>(x); });
      part = fresh;
    } else {
      part = from;
    }
  }, to, m);
  return to;
}

}  // namespace dimwise
