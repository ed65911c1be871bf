// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/transformer.hpp -- the transformer of the paper: embedding, sinusoids, layers, and a tied output.
//
// Layer: nn. Chiang, Rush and Barak 2022, Named Tensor Notation, section 4 and appendix A.1:
//
//   X⁰ = (E ⊙ I) √|Model| + P        scaled embedding, sinusoids
//   Xˡ = layerˡ(Xˡ⁻¹)                self-attention and feed-forward, each with its norm
//   O  = softmax(E ⊙ Xᴸ)             tied output
//
// Tests: tests/nn/layers.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/layers.hpp>
#include <dimwise/nn/layers/embedding.hpp>
#include <dimwise/support/math.hpp>

namespace dimwise::nn {

/// The language model of the paper: Layers is a `stack` of `transformer_block`s over the positions P.
///
///   (tokens, how…):       ids over [P, rest], or one-hot [P, Choice, rest]  ->  [rest, P, Choice], normalised<Choice>
///   logits(tokens, how…): the same before softmax
///   features(tokens, how…): the same before the output: [rest, P, Model]
///
/// Positions count from the origin of P. Rejects what the embedding and the layers reject.
template <class Choice = argument::nothing, class P = argument::nothing, class Model = argument::nothing,
          class Layers = argument::nothing, class T = float>
struct transformer {
  using embedding_type = nn::embedding<Choice, Model, T>;
  embedding_type words{};
  Layers layers{};
  using members = member_list<&transformer::words, &transformer::layers>;

  template <detail::input X, class... How>
  auto features_formula(const X& x, const How&... how) const {
    const auto first = [&](const auto& embedded, const auto& there) {
      const std::size_t width = extent_of<Model>(words.table);
      const auto positions = starting_at(P{extent_of<P>(there)}, there.extents().template origin<P>("transformer"));
      return tensor(embedded *
                        static_cast<detail::untracked_t<T>>(dimwise::detail::math::sqrt(static_cast<double>(width))) +
                    sinusoid<P, Model>(positions, Model{width}));
    };
    return detail::call(layers, detail::attempt(first, words.formula(x), detail::functions::having<P>(x)), how...);
  }
  /// The features after the last layer.
  DIMWISE_DETAIL_CALL(transformer, features, features_formula);

  template <detail::input X, class... How>
  auto logits_formula(const X& x, const How&... how) const {
    return words.logits_formula(features_formula(x, how...));
  }
  /// The logits of the next token at each position.
  DIMWISE_DETAIL_CALL(transformer, logits, logits_formula);

  template <detail::input X, class... How>
  auto formula(const X& x, const How&... how) const {
    using namespace detail::functions;
    return softmax<Choice>(stored(logits_formula(x, how...)));
  }
  DIMWISE_DETAIL_CALL(transformer, operator(), formula);
};

template <class Choice, class P, class Model, class Layers, class T>
DIMWISE_DETAIL_TAKES(transformer, (Choice, P, Model, Layers, T), detail::dimensions<Choice>, detail::positions<P>,
                     detail::features<Model>, detail::parts<Layers>, detail::element<T>) {
  using transformer::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename transformer::error>) > 0);
};

}  // namespace dimwise::nn
