// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/rows/loss.hpp -- the node of a loss: cross-entropy of logits.
//
// Layer: expr. A row of logits and its target become one number, without the probabilities in between.
// Tests: tests/grad/training/loss.test.cpp
#pragma once

#include <dimwise/expr/elements/elementwise.hpp>
#include <dimwise/expr/rows/reduce.hpp>
#include <dimwise/support/math.hpp>

namespace dimwise {

namespace detail {

// Σ q (log Σ exp x − x) over V. Children: logits x, targets (ids of V, or weights q), weights of the alternatives (a
// number 1 where none), and where the loss counts (true where it counts everywhere); elsewhere it is 0 and nothing is
// read. `divergence`: + Σ q log q.
template <class V>
struct cross_entropy_over {
  static constexpr const char* name = "cross_entropy";
  using over = list<V>;
  double smoothing = 0;
  bool divergence = false;
};
template <class Rest, class T, class V, class Logits, class Targets, class Weights, class Counts>
using cross_entropy_node = node<cross_entropy_over<V>, Rest, T, Logits, Targets, Weights, Counts>;

}  // namespace detail

namespace fn {

// −log of the probability that x, a logit, gives to y: (1 − y) softplus(x) + p y softplus(−x) with the positive weight
// p, or 1. Where a target is sure, the other term has the weight 0 and counts for nothing, infinite or not.
struct logistic_loss {
  static constexpr const char* name = "binary_cross_entropy";
  // a softplus(x) + b softplus(−x), where softplus(x) = log(1 + exp(x)) = max(x, 0) + log(1 + exp(−|x|)).
  template <class T>
  static T weighed(T x, T a, T b) {
    return (a + b) * detail::math::log1p(detail::math::exp(-detail::math::fabs(x))) +
           times_vanishing(detail::math::fabs(x), x > T(0) ? a : b);
  }
  template <class T>
  T operator()(T x, T y, T positive = T(1)) const {
    return weighed(x, T(1) - y, positive * y);
  }
};
template <std::size_t I, class T>
T partial_of(logistic_loss, T x, T y, T positive = T(1)) {
  if constexpr (I == 0) {
    return (T(1) - y) * sigmoid{}(x)-positive * y * sigmoid{}(-x);
  } else if constexpr (I == 1) {
    return logistic_loss::weighed(x, T(-1), positive);
  } else {
    return logistic_loss::weighed(x, T(0), y);
  }
}

}  // namespace fn

}  // namespace dimwise
