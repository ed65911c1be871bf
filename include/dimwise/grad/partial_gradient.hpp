// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/partial_gradient.hpp -- the gradient of a loss of which each rank has a term: it is reduced before use.
//
// Layer: grad. Knows mesh axes, and no ranks: `all_reduce<M>` is in ranks/training/gradients.hpp.
// Tests: tests/ranks/training/training.test.cpp, tests/compile_fail/ranks/
//
//   auto [loss, gradient] = value_and_gradient(model, …mean<examples_here, seq>…);   // partial_gradient<Model, dp>
//   optimiser.step(model, all_reduce<dp>(gradient, mesh));
#pragma once

#include <dimwise/shape/rules/placed.hpp>
#include <dimwise/support/errors.hpp>
#include <dimwise/tensor/misused.hpp>

namespace dimwise {

namespace op {
struct step;
struct clip_norm;
struct norm_of;
}  // namespace op

/// The gradient of a loss that is a partial sum along the mesh axes M: this rank's terms.
///
/// `all_reduce<M>(gradient, mesh)` adds the terms of all ranks; before that, optimisers and norms reject it (R23).
/// Gradients of parameters that have a shard along M are complete already.
template <class Model, class... M>
struct partial_gradient {
  Model terms;
  double count = 0;         ///< of an average: how many elements this rank's loss counted
  bool is_average = false;  ///< the sum of the terms is divided by the sum of the counts
};

namespace detail {

template <class G>
inline constexpr bool is_partial_gradient = false;
template <class Model, class... M>
inline constexpr bool is_partial_gradient<partial_gradient<Model, M...>> = true;

template <class Op, class G>
struct unreduced_gradient {};
template <class Op, class Model, class... M>
struct unreduced_gradient<Op, partial_gradient<Model, M...>> {
  using type = ERROR_R23_gradient_is_reduced_first<Op, over<M...>>;
};
// The error of an operation that takes a gradient, and is given the terms of one rank.
template <class Op, class G>
using unreduced_gradient_t = typename unreduced_gradient<Op, G>::type;

// A gradient along the mesh axes of a list; complete along none.
template <class Model, class Axes>
struct gradient_along;
template <class Model>
struct gradient_along<Model, list<>> {
  using type = Model;
};
template <class Model, class First, class... M>
struct gradient_along<Model, list<First, M...>> {
  using type = partial_gradient<Model, First, M...>;
};
template <class Model, class Axes>
using gradient_along_t = typename gradient_along<Model, Axes>::type;

}  // namespace detail

#define DIMWISE_DETAIL_OF_A_PARTIAL_GRADIENT(symbol)                                  \
  template <class Model, class... M, class X>                                         \
  auto operator symbol(const partial_gradient<Model, M...>& g, const X& x)            \
      ->detail::unreduced_gradient_t<op::elementwise, partial_gradient<Model, M...>>; \
  template <class X, class Model, class... M>                                         \
    requires(!detail::is_partial_gradient<X>)                                         \
  auto operator symbol(const X& x, const partial_gradient<Model, M...>& g)            \
      ->detail::unreduced_gradient_t<op::elementwise, partial_gradient<Model, M...>>;
/// The terms of one rank are no gradient: reduce them before arithmetic (R23).
DIMWISE_DETAIL_OF_A_PARTIAL_GRADIENT(+)
DIMWISE_DETAIL_OF_A_PARTIAL_GRADIENT(-)
DIMWISE_DETAIL_OF_A_PARTIAL_GRADIENT(*)
DIMWISE_DETAIL_OF_A_PARTIAL_GRADIENT(/)
#undef DIMWISE_DETAIL_OF_A_PARTIAL_GRADIENT

}  // namespace dimwise
