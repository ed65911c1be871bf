// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/heads/self_attention.hpp -- self-attention within a sequence, and cross-attention to a memory.
//
// Layer: nn.
// Tests: tests/nn/multi_head.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/layers/kinds.hpp>

namespace dimwise::nn {

/// Self-attention: the queries of Attention have the positions P, its keys and values have Key, a `prime` of P.
///
///   (x, how…):         [P, Model, rest]  ->  [rest, P, Model]
///   weights(x, how…):  the same          ->  [rest, heads, P, Key]
template <class P = argument::nothing, class Key = argument::nothing, class Attention = argument::nothing>
struct self_attention : Attention {
  template <detail::input X, class... How>
  auto formula(const X& x, const How&... how) const {
    const auto& here = detail::functions::materialised(x);
    const auto there = detail::functions::rename<P, Key>(here);
    return detail::formula_of<Attention>(*this, here, there, there, how...);
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

template <class P, class Key, class Attention>
DIMWISE_DETAIL_TAKES(self_attention, (P, Key, Attention), detail::positions<P, Key>,
                     detail::attention_module<Attention>) {
  using self_attention::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename self_attention::error>) > 0);
};

/// Cross-attention: queries have the positions P, keys and values those of Memory.
///
///   (x, memory, how…):         [P, Model, rest] x [Memory, Model, rest]  ->  [rest, P, Model]
///   weights(x, memory, how…):  the same                                  ->  [rest, heads, P, Memory]
template <class P = argument::nothing, class Memory = argument::nothing, class Attention = argument::nothing>
struct cross_attention : Attention {
  template <detail::input X, detail::input M, class... How>
  auto formula(const X& x, const M& memory, const How&... how) const {
    using namespace detail::functions;
    const auto& there = materialised(memory);
    return detail::formula_of<Attention>(*this, having<P>(x), having<Memory>(there), there, how...);
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

template <class P, class Memory, class Attention>
DIMWISE_DETAIL_TAKES(cross_attention, (P, Memory, Attention), detail::positions<P, Memory>,
                     detail::attention_module<Attention>) {
  using cross_attention::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename cross_attention::error>) > 0);
};

}  // namespace dimwise::nn
