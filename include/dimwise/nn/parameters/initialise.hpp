// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/parameters/initialise.hpp -- random initialisation of the parameters of a module.
//
// Layer: nn.
// Tests: tests/nn/parameters.test.cpp
//
//   auto layer = initialised<encoder_layer<…>>(xavier_uniform(42), hidden{2048});
//   initialise(part, how, mesh, hidden{2048});   // parameters that ranks divide: each has its part of the same draw
#pragma once

#include <dimwise/nn/parameters.hpp>
#include <dimwise/nn/parameters/distributions.hpp>
#include <dimwise/nn/parameters/drawn.hpp>
#include <dimwise/nn/parameters/initialise_checks.hpp>
#include <dimwise/nn/parameters/stage.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace dimwise::nn {

namespace detail {

// The parameters of a part of a model; what has none is a setting.
template <class M, class How, class... Extents>
void initialise_part(M& m, How& how, const Extents&... extents) {
  using divided = axes_of_parameters_t<M>;
  if constexpr (requires { m.initialise_parameters(how, extents...); }) {
    if constexpr ((is_extents_on_rank<Extents> || ...) && divided::size > 0 && !is_draws_parts<How>) {
      draws_parts<How, divided> parts{how};
      m.initialise_parameters(parts, extents...);
    } else {
      m.initialise_parameters(how, extents...);
    }
  } else if constexpr (is_tensor<M> && is_any_parameter<M>) {  // a vector that is a direct member
    m = zeros<M>(extents...);
    draw<dims_t<shape_of<M>>, dims_t<shape_of<M>>>(m, how, extents...);
  } else if constexpr (is_sequence<M>) {
    for (auto& part : m) { initialise_part(part, how, extents...); }
  } else if constexpr (module<M> || is_tuple<M>) {
    each_member(m, [&](auto& part) { initialise_part(part, how, extents...); });
  } else {
    static_assert(is_a_setting<M>::value);
  }
}
// The same of what ranks divide.
template <class M, class How, template <class...> class Mesh, mesh_axis_type... Axes, class... Whole>
  requires(sizeof...(Axes) > 0)
void initialise_part(M& m, How& how, const Mesh<Axes...>& mesh, const Whole&... whole) {
  initialise_part(m, how, extents_on_rank<Mesh<Axes...>, Whole...>(mesh, whole...));
}

}  // namespace detail

/// Initialises the parameters of `m` in member order: draws weights from `how`, sets biases to 0 and norm scales to 1.
/// Pass run-time extents once for the whole module; a missing one is rejected (R15). A non-const `how` is advanced, so
/// that the next module gets other numbers; a const one is copied. Rejects what does not draw weights, constant models,
/// extents that are not objects of their dimension (R1), and types that are not modules (R21).
///
/// If ranks divide parameters, pass a `ranks::mesh` and then the whole extents: each rank draws the numbers of whole
/// parameters, as one rank would, and has its part of them. Rejects such a model without a mesh, or if its
/// `initialise_parameters` draws numbers itself (R24), and a mesh that lacks an axis (R25).
template <class M, class How, class... Extents>
  requires allowed<detail::initialise_verdict<M, How, Extents...>>
void initialise(M& m, How&& how, const Extents&... extents) {
  const dimwise::detail::weights_together in_large_pages;
  if constexpr (std::is_const_v<std::remove_reference_t<How>>) {
    auto copy = how;
    detail::initialise_part(m, copy, extents...);
  } else {
    detail::initialise_part(m, how, extents...);
  }
}
template <class M, class How, class... Extents, class Error = detail::initialise_verdict<M, How, Extents...>>
  requires refused<Error>
Error initialise(M& m, How&& how, const Extents&... extents);
DIMWISE_DETAIL_MISUSED(initialise)

namespace detail {

// Whether a module contains a list of modules with a run-time length.
template <class M>
inline constexpr bool is_array = false;
template <class M, std::size_t N>
inline constexpr bool is_array<std::array<M, N>> = true;
template <class M>
consteval bool holds_sequence() {
  if constexpr (is_tensor<M>) {
    return false;
  } else if constexpr (is_array<M>) {
    return holds_sequence<typename M::value_type>();
  } else if constexpr (is_sequence<M>) {
    return true;
  } else if constexpr (module<M> || is_tuple<M>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (holds_sequence<std::remove_cvref_t<decltype(part_at<I>(std::declval<M&>()))>>() || ...);
    }(std::make_index_sequence<part_count<M>()>{});
  } else {
    return false;
  }
}

}  // namespace detail

/// Named in the error of `initialised<M>` if M contains a `stack`, whose length is unknown. Use
/// `M m{…stack<Layer>::of(6)…}; initialise(m, how);`.
template <class M>
struct a_stack_is_made_by_of_and_then_initialised;

/// A module with the parameters of `initialise`: `initialised<linear<from<d_model>, to<hidden>>>(xavier_uniform(1),
/// hidden{2048})`. Rejects modules that contain a `stack`, which would have no layers.
template <class M, class How, class... Extents>
  requires(!detail::holds_sequence<M>() && allowed<detail::initialise_verdict<M, How, Extents...>>)
[[nodiscard]] M initialised(How&& how, const Extents&... extents) {
  M m;
  initialise(m, static_cast<How&&>(how), extents...);
  return m;
}
template <class M, class How, class... Extents, class Error = detail::initialise_verdict<M, How, Extents...>>
  requires(!detail::holds_sequence<M>() && refused<Error>)
Error initialised(How&& how, const Extents&... extents);
template <class M, class How, class... Extents, class Reason = a_stack_is_made_by_of_and_then_initialised<M>>
  requires(detail::holds_sequence<M>())
Reason initialised(How&& how, const Extents&... extents);

}  // namespace dimwise::nn
