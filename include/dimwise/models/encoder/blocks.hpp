// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder/blocks.hpp -- the attention and the block of an encoder whose settings are run-time values.
//
// Layer: models.
// Tests: tests/models/encoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/encoder/settings.hpp>
#include <dimwise/nn/layers.hpp>

#include <vector>

namespace dimwise::models {

/// What the layers of a forward pass share: the lengths of the texts, rotary positions, at most one bias of the scores,
/// and their scale.
template <class Dims>
struct encoder_pass {
  using tables_type = rotary_tables<typename Dims::seq, typename Dims::pairs>;
  tensor<int, typename Dims::batch> lengths;
  std::vector<tables_type> rotary;
  std::vector<tensor<float, typename Dims::heads, typename Dims::seq, typename Dims::key>> bias;
  double score_scale = 1;
};

/// Self-attention of an encoder: padding is masked, the window and the rotary positions are run-time values.
template <class Dims, class Weights = float>
struct encoder_attention {
  using batch = typename Dims::batch;
  using seq = typename Dims::seq;
  using key_pos = typename Dims::key;
  using d_model = typename Dims::d_model;
  using heads = typename Dims::heads;
  using d_k = typename Dims::d_k;
  using d_v = typename Dims::d_v;
  using features_type = tensor<float, batch, seq, d_model>;
  using queries_type = tensor<float, batch, seq, heads, d_k>;
  using keys_type = tensor<float, batch, key_pos, heads, d_k>;
  using projection = nn::linear<nn::from<d_model>, nn::to<heads, d_k>, nn::optional_bias, Weights>;
  using value_projection = nn::linear<nn::from<d_model>, nn::to<heads, d_v>, nn::optional_bias, Weights>;
  using output_projection = nn::linear<nn::from<heads, d_v>, nn::to<d_model>, nn::optional_bias, Weights>;

  projection query{};
  projection key{};
  value_projection value{};
  output_projection output{};
  using members = nn::member_list<&encoder_attention::query, &encoder_attention::key, &encoder_attention::value,
                                  &encoder_attention::output>;

  /// An attention without parameters, with or without biases.
  [[nodiscard]] static encoder_attention of(bool bias) {
    encoder_attention made;
    made.query.has_bias(bias);
    made.key.has_bias(bias);
    made.value.has_bias(bias);
    made.output.has_bias(bias);
    return made;
  }

  /// The attended features.
  [[nodiscard]] features_type operator()(const features_type& x, const encoder_pass<Dims>& pass,
                                         const encoder_layer_settings& how) const {
    const auto q = turned(query(x), pass, how);
    const auto k = rename<seq, key_pos>(turned(key(x), pass, how));
    const auto v = rename<seq, key_pos>(value(x));
    const window<seq, key_pos> near(how.window, how.window);
    const auto given = padding<key_pos>(pass.lengths);
    const nn::scaled_by scale{pass.score_scale};
    if (pass.bias.empty()) { return output(nn::attention<d_k, key_pos>(q, k, v, scale, near, given)); }
    return output(nn::attention<d_k, key_pos>(q, k, v, scale, pass.bias.front(), near, given));
  }

 private:
  // The result has no mark: whether queries and keys are rotated is a run-time value, the same for both.
  [[nodiscard]] static queries_type turned(const queries_type& x, const encoder_pass<Dims>& pass,
                                           const encoder_layer_settings& how) {
    if (pass.rotary.empty()) { return x; }
    const auto& tables = pass.rotary[how.rotary];
    return plain(rotary<seq, d_k>(x, tables.cosines, tables.sines));
  }
};

/// A layer of an encoder: attention and feed-forward, each with a norm and a residual.
template <class Dims, class Weights = float>
struct encoder_block {
  using d_model = typename Dims::d_model;
  using attention_type = encoder_attention<Dims, Weights>;
  using features_type = typename attention_type::features_type;
  using norm_type = any_norm<d_model>;
  using feed_type = any_feed_forward<d_model, typename Dims::hidden, Weights>;
  // A list of one norm or none: the first layer may lack one.
  using norm_list = std::vector<norm_type>;

  attention_type attention{};
  norm_list norm1{};
  feed_type feed_forward{};
  norm_type norm2{};
  using members = nn::member_list<&encoder_block::attention, &encoder_block::norm1, &encoder_block::feed_forward,
                                  &encoder_block::norm2>;

  /// A block of these settings, whose parameters are empty.
  [[nodiscard]] static encoder_block of(const encoder_config& c, bool has_norm1) {
    return {attention_type::of(c.attention_bias), norm_list(has_norm1 ? 1 : 0, norm_type(c.norm)), feed_type(c.feed),
            norm_type(c.norm)};
  }

  /// `norm_first`: x + f(norm(x)), else norm(x + f(x)).
  [[nodiscard]] features_type operator()(const features_type& x, const encoder_pass<Dims>& pass,
                                         const encoder_layer_settings& how, bool norm_first) const {
    if (norm_first) {
      const features_type attended = x + attention(norm1.empty() ? x : norm1.front()(x), pass, how);
      return attended + feed_forward(norm2(attended));
    }
    const features_type attended = norm1.front()(features_type(x + attention(x, pass, how)));
    return norm2(features_type(attended + feed_forward(attended)));
  }
};

}  // namespace dimwise::models
