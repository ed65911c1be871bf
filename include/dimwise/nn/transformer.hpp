// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/transformer.hpp -- the paper's transformer: words, positions, layers, and words again by the same table.
//
// Layer: nn. Chiang, Rush and Barak 2022, Named Tensor Notation, section 4 and appendix A.1:
//
//   X⁰ = (E ⊙ I) √|Model| + P        scaled embedding, sinusoids
//   Xˡ = layerˡ(Xˡ⁻¹)                self-attention and feed-forward, each with its norm
//   O  = softmax(E ⊙ Xᴸ)             tied output
//
// Tests: tests/nn/layers.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/embedding.hpp>
#include <dimwise/nn/layers.hpp>

namespace dimwise::nn {

/// A language model as the paper has it: Layers is a `stack` of `encoder_layer`s over the positions P.
///
///   (words, how…):       words over [P, rest], or one-hot [P, Choice, rest]  ->  [rest, P, Choice], normalised<Choice>
///   logits(words, how…): the same before softmax
///   features(words, how…): the same before the output: [rest, P, Model]
///
/// Positions count from the origin of P. Refuses what the embedding and the layers refuse.
template <class Choice, class P, class Model, class Layers, class T = float>
struct transformer {
  using embedding_type = nn::embedding<Choice, Model, T>;
  template <class X>
  using embedded = detail::stored_outcome_t<typename embedding_type::template outcome<X>>;
  template <operand X, class... How>
  struct checked {
    using type = embedded<X>;
  };
  template <operand X, class... How>
    requires detail::computed<embedded<X>>
  struct checked<X, How...>
      : detail::verdict_of<detail::has<P, X>, typename Layers::template checked<embedded<X>, How...>::type> {};

  BOOST_HANA_DEFINE_STRUCT(transformer, (embedding_type, words), (Layers, layers));

  template <operand X, class... How, class Verdict = typename checked<X, How...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto features(const X& x, const How&... how) const {
    const std::size_t width = extent_of<Model>(words.table);
    const auto positions = starting_at(P{extent_of<P>(x)}, x.extents().template origin<P>("transformer"));
    const tensor first = words.formula(x) * static_cast<T>(std::sqrt(static_cast<double>(width))) +
                         sinusoid<P, Model>(positions, Model{width});
    return layers(first, how...);
  }
  DIMWISE_DETAIL_REFUSED(features, checked);

  template <operand X, class... How, class Verdict = typename checked<X, How...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto logits(const X& x, const How&... how) const {
    return words.logits(features(x, how...));
  }
  DIMWISE_DETAIL_REFUSED(logits, checked);

  template <operand X, class... How, class Verdict = typename checked<X, How...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const X& x, const How&... how) const {
    return tensor(softmax<Choice>(logits(x, how...)));
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);
};

}  // namespace dimwise::nn
