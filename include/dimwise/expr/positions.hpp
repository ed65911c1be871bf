// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/positions.hpp -- what is computed from positions: sinusoids.
//
// Layer: expr. Origins come from the extents: `sinusoid<seq, d_model>(starting_at(seq{1}, 41))`.
// Tests: tests/expr/positions.test.cpp, tests/compile_fail/positions/
#pragma once

#include <dimwise/shape/rules/reduce.hpp>
#include <dimwise/tensor/view.hpp>

namespace dimwise {

namespace detail {

template <class Shape, class P, class F>
class sinusoid_node : public node<Shape, float> {
 public:
  using positions = P;
  using features = F;
  sinusoid_node(extents_for<Shape> e, double base) : node<Shape, float>(static_cast<extents_for<Shape>&&>(e)), base_(base) {}
  [[nodiscard]] double base() const { return base_; }

 private:
  double base_;
};

template <class P, class F>
inline constexpr bool sinusoidal = has_any(P::abilities, ability::ordered) && is_feature<F>;

}  // namespace detail

/// sin(p / base^(2i/|F|)) at feature 2i and cos of the same at 2i + 1, for the positions p of P (Vaswani et al. 2017,
/// section 3.5); an odd number of features ends with a sine.
///
///   sinusoid<seq, d_model>(seq{n})  ->  [seq, d_model]
template <class P, class F>
  requires(detail::sinusoidal<P, F>)
[[nodiscard]] auto sinusoid(const P& positions, const F& features = F{}, double base = 10000) {
  detail::extents_for<shape<P, F>> e;
  e.set(positions);
  e.set(features);
  return detail::sinusoid_node<shape<P, F>, P, F>(e, base);
}
template <class P, class F, class... Rest, class Error = ERROR_R13_sinusoid_takes_positions_and_features<over<detail::about_t<P>, detail::about_t<F>>>>
  requires(!detail::sinusoidal<P, F>)
Error sinusoid(const Rest&... rest);

}  // namespace dimwise
