// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder/heads.hpp -- the layers on top of an encoder: labels of texts or tokens, and masked tokens.
//
// Layer: models.
// Tests: tests/models/encoders/encoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/encoder/settings.hpp>
#include <dimwise/nn/layers/embedding.hpp>

#include <vector>

namespace dimwise::models {

/// The scores of labels: output(norm(f(dense(x)))), in which dense and norm may be absent.
template <class Dims>
struct label_head {
  using d_model = typename Dims::d_model;
  using labels = typename Dims::labels;
  using features_type = tensor<float, typename Dims::batch, typename Dims::seq, d_model>;
  using scores_type = tensor<float, typename Dims::batch, typename Dims::seq, labels>;
  using dense_type = nn::linear<nn::from<d_model>, nn::to<d_model>, nn::optional_bias>;
  using output_type = nn::linear<nn::from<d_model>, nn::to<labels>>;
  using dense_list = std::vector<dense_type>;
  using norm_list = std::vector<any_norm<d_model>>;
  dense_list dense{};
  activation_kind activation{};
  norm_list norm{};
  output_type output{};
  using members = nn::member_list<&label_head::dense, &label_head::activation, &label_head::norm, &label_head::output>;

  /// A head of these settings, whose parameters are empty.
  [[nodiscard]] static label_head of(const encoder_head_settings& s) {
    label_head made{dense_list(s.dense ? 1 : 0), s.activation, norm_list(), output_type()};
    for (auto& map : made.dense) { map.has_bias(s.dense_bias); }
    if (s.norm) { made.norm.push_back(any_norm<d_model>(*s.norm)); }
    return made;
  }
  [[nodiscard]] scores_type operator()(const features_type& x) const {
    features_type h = x;
    if (!dense.empty()) { h = activated(activation, features_type(dense.front()(h))); }
    if (!norm.empty()) { h = norm.front()(h); }
    return output(h);
  }
};

/// The logits of masked tokens: the product of norm(f(dense(x))) with the token embedding, plus a bias.
template <class Dims>
struct token_head {
  using d_model = typename Dims::d_model;
  using d_embed = typename Dims::d_embed;
  using vocab = typename Dims::vocab;
  using features_type = tensor<float, typename Dims::batch, typename Dims::seq, d_model>;
  using embedded_type = tensor<float, typename Dims::batch, typename Dims::seq, d_embed>;
  using logits_type = tensor<float, typename Dims::batch, typename Dims::seq, vocab>;
  using dense_type = nn::linear<nn::from<d_model>, nn::to<d_embed>, nn::optional_bias>;
  using norm_type = any_norm<d_embed>;
  using bias_list = std::vector<tensor<float, vocab>>;
  dense_type dense{};
  activation_kind activation{};
  norm_type norm{};
  bias_list bias{};
  using members = nn::member_list<&token_head::dense, &token_head::activation, &token_head::norm, &token_head::bias>;

  /// A head of these settings, whose parameters are empty.
  [[nodiscard]] static token_head of(const encoder_head_settings& s, bool has_bias) {
    token_head made{dense_type(), s.activation, norm_type(s.norm.value_or(norm_settings{})),
                    bias_list(has_bias ? 1 : 0)};
    made.dense.has_bias(s.dense_bias);
    return made;
  }
  template <class TokenEmbedding>
  [[nodiscard]] logits_type operator()(const TokenEmbedding& tokens, const features_type& x) const {
    const logits_type logits = tokens.logits(norm(activated(activation, embedded_type(dense(x)))));
    return bias.empty() ? logits : logits_type(logits + bias.front());
  }
};

}  // namespace dimwise::models
