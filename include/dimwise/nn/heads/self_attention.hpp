// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/heads/self_attention.hpp -- self-attention within a sequence, and cross-attention to a memory.
//
// Layer: nn.
// Tests: tests/nn/multi_head.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/layers/kinds.hpp>

namespace dimwise::op {
struct cross_attention;
}  // namespace dimwise::op

namespace dimwise::nn {

/// Self-attention: the queries of Attention have the positions P, its keys and values have Key, a `prime` of P.
///
///   (x, how…):         [P, Model, rest]  ->  [rest, P, Model]
///   weights(x, how…):  the same          ->  [rest, heads, P, Key]
template <class P, class Key, class Attention>
struct self_attention : Attention {
  template <detail::input X, class... How>
  auto formula(const X& x, const How&... how) const {
    const auto& here = detail::functions::materialised(x);
    const auto there = detail::functions::rename<P, Key>(here);
    return Attention::formula(here, there, there, how...);
  }
  DIMWISE_DETAIL_CALL(self_attention, operator(), formula);

  template <detail::input X, class... How>
  auto weights_formula(const X& x, const How&... how) const {
    const auto& here = detail::functions::materialised(x);
    return Attention::weights_formula(here, detail::functions::rename<P, Key>(here), how...);
  }
  /// The attention weights: the softmax of the scores.
  DIMWISE_DETAIL_CALL(self_attention, weights, weights_formula);
};

/// Cross-attention: queries have the positions P, keys and values those of Memory.
///
///   (x, memory, how…):         [P, Model, rest] x [Memory, Model, rest]  ->  [rest, P, Model]
///   weights(x, memory, how…):  the same                                  ->  [rest, heads, P, Memory]
template <class P, class Memory, class Attention>
struct cross_attention : Attention {
  template <detail::input X, detail::input M, class... How>
  auto formula(const X& x, const M& memory, const How&... how) const {
    using namespace detail::functions;
    const auto& there = materialised(memory);
    return Attention::formula(having<P>(x), having<Memory>(there), there, how...);
  }
  DIMWISE_DETAIL_CALL(cross_attention, operator(), formula);

  template <detail::input X, detail::input M, class... How>
  auto weights_formula(const X& x, const M& memory, const How&... how) const {
    using namespace detail::functions;
    return Attention::weights_formula(having<P>(x), having<Memory>(memory), how...);
  }
  /// The attention weights: the softmax of the scores.
  DIMWISE_DETAIL_CALL(cross_attention, weights, weights_formula);
};

// Dimensions of other kinds (layers/kinds.hpp).
template <class P, class Memory, class Attention>
  requires detail::other_kinds<detail::positions<P, Memory>>
struct cross_attention<P, Memory, Attention>
    : detail::refused_module<op::cross_attention, detail::positions<P, Memory>> {
  static_assert(sizeof(detail::report<typename cross_attention::error>) > 0);
};

}  // namespace dimwise::nn
