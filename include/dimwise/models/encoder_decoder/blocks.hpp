// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder_decoder/blocks.hpp -- the attention and the block of a decoder that also attends to the
// features of a source text.
//
// Layer: models.
// Tests: tests/models/encoder_decoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/common/scores.hpp>
#include <dimwise/models/encoder_decoder/settings.hpp>
#include <dimwise/nn/attention.hpp>
#include <dimwise/nn/cache.hpp>
#include <dimwise/nn/layers/linear.hpp>

namespace dimwise::models {

/// The keys and values of a source text, which one layer computes once.
template <class Dims>
struct source_memory {
  tensor<float, typename Dims::heads, typename Dims::seq, typename Dims::d_k> keys{};
  tensor<float, typename Dims::heads, typename Dims::seq, typename Dims::d_v> values{};
};

/// Attention of the decoder, to the positions up to the own one or to those of the source.
template <class Dims, class Weights = float>
struct target_attention {
  using target = typename Dims::target;
  using past = typename Dims::past;
  using seq = typename Dims::seq;
  using d_model = typename Dims::d_model;
  using heads = typename Dims::heads;
  using d_k = typename Dims::d_k;
  using d_v = typename Dims::d_v;
  using features = tensor<float, target, d_model>;
  using memory = source_memory<Dims>;
  using cache =
      nn::kv_cache<past, nn::capacity<>, nn::keys<float, heads, past, d_k>, nn::values<float, heads, past, d_v>>;
  using bias_list = std::vector<tensor<float, heads, target, past>>;
  using projection = nn::linear<nn::from<d_model>, nn::to<heads, d_k>, nn::optional_bias, Weights>;
  using value_projection = nn::linear<nn::from<d_model>, nn::to<heads, d_v>, nn::optional_bias, Weights>;
  using output_projection = nn::linear<nn::from<heads, d_v>, nn::to<d_model>, nn::optional_bias, Weights>;

  projection query{};
  projection key{};
  value_projection value{};
  output_projection output{};
  double score_scale = 1;
  using members = nn::member_list<&target_attention::query, &target_attention::key, &target_attention::value,
                                  &target_attention::output, &target_attention::score_scale>;

  target_attention() = default;
  /// An attention of these settings, whose parameters are empty.
  explicit target_attention(const encoder_config& c)
      : query(), key(), value(), output(), score_scale(scale_of_scores(c.score_scale, c.extents.of_head)) {
    query.has_bias(c.attention_bias);
    key.has_bias(c.attention_bias);
    value.has_bias(c.attention_bias);
    output.has_bias(c.attention_bias);
  }

  /// Attends from the positions of x, which are appended to `held`, to those up to the own one.
  [[nodiscard]] features to_past(const features& x, cache& held, const bias_list& bias) const {
    const nn::scaled_by scale{score_scale};
    const causal<target, past> visible;
    held.append(rename<target, past>(key(x)), rename<target, past>(value(x)));
    const auto q = query(x);
    if (bias.empty()) { return output(nn::attention<d_k, past>(q, held.keys(), held.values(), scale, visible)); }
    return output(nn::attention<d_k, past>(q, held.keys(), held.values(), scale, bias.front(), visible));
  }
  /// The keys and values of the features of a source.
  [[nodiscard]] memory remembered(const tensor<float, seq, d_model>& source) const {
    return {key(source), value(source)};
  }
  /// Attends from the positions of x to all positions of the source.
  [[nodiscard]] features to_source(const features& x, const memory& source) const {
    return output(nn::attention<d_k, seq>(query(x), source.keys, source.values, nn::scaled_by{score_scale}));
  }
};

/// A layer of the decoder: attention to the past and to the source, and a feed-forward layer, each with a norm and a
/// residual.
template <class Dims, class Weights = float>
struct encoder_decoder_block {
  using d_model = typename Dims::d_model;
  using attention_type = target_attention<Dims, Weights>;
  using features = typename attention_type::features;
  using cache = typename attention_type::cache;
  using memory = typename attention_type::memory;
  using bias_list = typename attention_type::bias_list;
  using norm_type = any_norm<d_model>;
  using feed_type = any_feed_forward<d_model, typename Dims::hidden, Weights>;

  norm_type norm1{};
  attention_type self{};
  norm_type norm2{};
  attention_type cross{};
  norm_type norm3{};
  feed_type feed_forward{};
  using members = nn::member_list<&encoder_decoder_block::norm1, &encoder_decoder_block::self,
                                  &encoder_decoder_block::norm2, &encoder_decoder_block::cross,
                                  &encoder_decoder_block::norm3, &encoder_decoder_block::feed_forward>;

  encoder_decoder_block() = default;
  /// A layer of these settings, whose parameters are empty.
  explicit encoder_decoder_block(const encoder_config& c)
      : norm1(c.norm), self(c), norm2(c.norm), cross(c), norm3(c.norm), feed_forward(c.feed) {}

  /// `norm_first`: x + f(norm(x)) for each of the three, else norm(x + f(x)).
  [[nodiscard]] features operator()(const features& x, cache& held, const memory& source, const bias_list& bias,
                                    bool norm_first) const {
    if (!norm_first) {
      const features attended = norm1(features(x + self.to_past(x, held, bias)));
      const features informed = norm2(features(attended + cross.to_source(attended, source)));
      return norm3(features(informed + feed_forward(informed)));
    }
    const features attended = x + self.to_past(norm1(x), held, bias);
    const features informed = attended + cross.to_source(norm2(attended), source);
    return informed + feed_forward(norm3(informed));
  }
};

}  // namespace dimwise::models
