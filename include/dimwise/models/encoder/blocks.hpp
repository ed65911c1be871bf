// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder/blocks.hpp -- the attention and the block of an encoder whose settings are run-time values.
//
// Layer: models.
// Tests: tests/models/encoders/encoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/common/run_time_extents.hpp>
#include <dimwise/models/encoder/settings.hpp>
#include <dimwise/nn/layers.hpp>

#include <algorithm>
#include <vector>

namespace dimwise::models {

/// The tokens of all texts of a batch, one text after another: layers compute no padding.
struct packed_tokens : packed_dim<> {
  using packed_dim<>::packed_dim;
};
/// The tokens that attention sees.
struct packed_keys : prime<packed_tokens> {
  using prime<packed_tokens>::prime;
};

/// The values shared by all layers of a forward pass: rotary positions, at most one bias of the scores or features of
/// distances, and the scale of scores.
template <class Dims>
struct encoder_pass {
  using tables_type = rotary_tables<packed_tokens, typename Dims::pairs>;
  packed_tokens tokens;
  std::vector<tables_type> rotary;
  /// For a text as long as the longest one.
  std::vector<tensor<float, typename Dims::heads, typename Dims::seq, typename Dims::key>> bias;
  std::vector<disentangled_pass<Dims>> disentangled;
  double score_scale = 1;
};

/// Self-attention of an encoder within each text: the window and the rotary positions are run-time values.
template <class Dims, class Weights = float>
struct encoder_attention {
  using seq = typename Dims::seq;
  using key_pos = typename Dims::key;
  using d_model = typename Dims::d_model;
  using heads = typename Dims::heads;
  using buckets = typename Dims::buckets;
  using d_k = typename Dims::d_k;
  using d_v = typename Dims::d_v;
  using features_type = tensor<float, packed_tokens, d_model>;
  using queries_type = tensor<float, packed_tokens, heads, d_k>;
  using values_type = tensor<float, packed_tokens, heads, d_v>;
  using projection = nn::linear<nn::from<d_model>, nn::to<heads, d_k>, nn::optional_bias, Weights>;
  using projection_list = std::vector<projection>;
  using distance_type = tensor<float, buckets, heads, d_k>;
  using mapped_list = std::vector<distance_type>;
  using bias_type = tensor<float, heads, seq, key_pos>;
  using value_projection = nn::linear<nn::from<d_model>, nn::to<heads, d_v>, nn::optional_bias, Weights>;
  using output_projection = nn::linear<nn::from<heads, d_v>, nn::to<d_model>, nn::optional_bias, Weights>;

  projection query{};
  projection key{};
  value_projection value{};
  output_projection output{};
  // Of the features of distances, if those of queries and keys are not shared.
  projection_list distance_query{};
  projection_list distance_key{};
  using members =
      nn::member_list<&encoder_attention::query, &encoder_attention::key, &encoder_attention::value,
                      &encoder_attention::output, &encoder_attention::distance_query, &encoder_attention::distance_key>;

  /// An attention without parameters, with or without biases.
  [[nodiscard]] static encoder_attention of(bool bias, const disentangled_settings& disentangled = {}) {
    encoder_attention made;
    made.query.has_bias(bias);
    made.key.has_bias(bias);
    made.value.has_bias(bias);
    made.output.has_bias(bias);
    if (disentangled.own_maps) {
      if (disentangled.of_keys) { made.distance_query.push_back(made.query); }
      if (disentangled.of_queries) { made.distance_key.push_back(made.key); }
    }
    return made;
  }

  /// The attended features.
  [[nodiscard]] features_type operator()(const features_type& x, const encoder_pass<Dims>& pass,
                                         const encoder_layer_settings& how) const {
    const queries_type q = turned(query(x), pass, how);
    const queries_type k = turned(key(x), pass, how);
    const values_type v = value(x);
    if (!pass.bias.empty()) {
      return output(text_by_text(q, k, v, pass, how, [&](std::size_t length, const auto&, const auto&) {
        return slice<key_pos>(slice<seq>(pass.bias.front(), 0, length), 0, length);
      }));
    }
    if (!pass.disentangled.empty()) {
      const disentangled_pass<Dims>& distances = pass.disentangled.front();
      const mapped_list keys = mapped(distances, distances.settings.of_queries, distance_key, key);
      const mapped_list queries = mapped(distances, distances.settings.of_keys, distance_query, query);
      return output(text_by_text(q, k, v, pass, how, [&](std::size_t length, const auto& of_text, const auto& seen) {
        const auto rows = slice<key_pos>(slice<seq>(distances.rows, 0, length), 0, length);
        return distance_scores(of_text, seen, keys, queries, rows, pass.score_scale);
      }));
    }
    const window<packed_tokens, packed_keys> near(how.window, how.window);
    return output(
        nn::attention<d_k, packed_keys>(q, rename<packed_tokens, packed_keys>(k), rename<packed_tokens, packed_keys>(v),
                                        nn::scaled_by{pass.score_scale}, document<packed_tokens, packed_keys>{}, near));
  }

 private:
  // The result has no mark: whether queries and keys are rotated is a run-time value, the same for both.
  [[nodiscard]] static queries_type turned(const queries_type& x, const encoder_pass<Dims>& pass,
                                           const encoder_layer_settings& how) {
    if (pass.rotary.empty()) { return x; }
    const auto& tables = pass.rotary[how.rotary];
    return plain(rotary<packed_tokens, d_k>(x, tables.cosines, tables.sines));
  }
  // The features of distances, mapped as queries or keys, or nothing.
  [[nodiscard]] static mapped_list mapped(const disentangled_pass<Dims>& distances, bool used,
                                          const projection_list& own, const projection& shared) {
    if (!used) { return {}; }
    return {distance_type((own.empty() ? shared : own.front())(distances.features))};
  }
  // The scores of a text's queries with the features of distances, and of its keys.
  template <class Q, class K, class Rows>
  [[nodiscard]] static bias_type distance_scores(const Q& q, const K& k, const mapped_list& keys,
                                                 const mapped_list& queries, const Rows& rows, double scale) {
    const auto by = static_cast<float>(scale);
    bias_type sum(extent_in<heads>(q), extent_in<seq>(q), extent_in<key_pos>(k));
    for (const distance_type& one : keys) {
      const tensor<float, seq, heads, buckets> scores = contract<d_k>(q * by, one);
      sum = sum + gather<buckets>(scores, rows);
    }
    for (const distance_type& one : queries) {
      const tensor<float, key_pos, heads, buckets> scores = contract<d_k>(k * by, one);
      sum = sum + gather<buckets>(scores, rows);
    }
    return sum;
  }
  // A bias would have an entry for each pair of tokens of different texts: attention of text after text.
  // `bias_of(length, queries, keys)` is the bias of a text.
  template <class Bias>
  [[nodiscard]] static values_type text_by_text(const queries_type& q, const queries_type& k, const values_type& v,
                                                const encoder_pass<Dims>& pass, const encoder_layer_settings& how,
                                                const Bias& bias_of) {
    values_type all(pass.tokens, extent_in<heads>(v), extent_in<d_v>(v));
    float* to = all.overwrite();
    const window<seq, key_pos> near(how.window, how.window);
    std::size_t first = 0;
    for (const std::size_t length : pass.tokens.documents()) {
      // Tensors of their own: the positions of a slice would count from the first text.
      const auto text = [&]<class P, class D>(P, const tensor<float, packed_tokens, heads, D>& x) {
        const std::size_t row = extent_of<heads>(x) * extent_of<D>(x);
        return make_tensor<tensor<float, P, heads, D>>(x.values().subspan(first * row, length * row), P{length},
                                                       extent_in<heads>(x), extent_in<D>(x));
      };
      const auto queries = text(seq{}, q);
      const auto keys = text(key_pos{}, k);
      const tensor<float, seq, heads, d_v> attended = nn::attention<d_k, key_pos>(
          queries, keys, text(key_pos{}, v), nn::scaled_by{pass.score_scale}, bias_of(length, queries, keys), near);
      to = std::copy(attended.values().begin(), attended.values().end(), to);
      first += length;
    }
    return all;
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
    return {attention_type::of(c.attention_bias, c.disentangled), norm_list(has_norm1 ? 1 : 0, norm_type(c.norm)),
            feed_type(c.feed), norm_type(c.norm)};
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
