// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/layers.hpp -- the layers of a decoder whose settings are data: attention, and a block of it
// with a feed-forward layer.
//
// Layer: models. The same compiled formulas compute every architecture.
// Tests: tests/models/decoders/decoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/common/division.hpp>
#include <dimwise/models/common/scores.hpp>
#include <dimwise/models/decoder/head_norm.hpp>
#include <dimwise/models/decoder/latent.hpp>
#include <dimwise/models/decoder/mixture.hpp>
#include <dimwise/nn/attention.hpp>
#include <dimwise/nn/cache.hpp>

#include <vector>

namespace dimwise::models {

/// The dimensions of a decoder with extents from the configuration. Your own struct may make some or all of them
/// static.
struct decoder_dims {
  struct vocab : choice_dim<> {};
  struct seq : position_dim<> {};
  struct key : prime<seq> {};
  struct rows : position_dim<> {};  // of learned positions
  struct d_model : feature_dim<> {};
  struct d_embedding : feature_dim<> {};  // of the token embedding
  struct kv_heads : heads_dim<> {};       // heads of keys and values
  struct group : heads_dim<> {};          // query heads per key head
  struct d_k : feature_dim<> {};
  struct d_v : feature_dim<> {};
  struct latent : feature_dim<> {};        // vectors from which keys and values are mapped
  struct query_latent : feature_dim<> {};  // the same of queries
  struct d_content : feature_dim<> {};     // of a head beside those that rotary positions turn
  struct d_rotated : feature_dim<> {};     // that rotary positions turn
  struct pairs : feature_dim<> {};         // of rotary positions
  struct hidden : feature_dim<> {};
  struct experts : choice_dim<> {};
  struct expert_hidden : feature_dim<> {};
  struct shared_hidden : feature_dim<> {};  // of an expert that all positions share
};

/// The values that all layers share in one call: tables of rotary positions, the biases of ALiBi, and what makes parts
/// whole.
template <class Dims>
struct decoder_positions {
  std::vector<rotary_tables<typename Dims::seq, typename Dims::pairs>> rotary{};
  tensor<float, part_of_dims<Dims, typename Dims::kv_heads>, typename Dims::group, typename Dims::key> alibi{};
  gatherer_of<Dims> parts{};
};

/// The settings of the attention of one layer.
struct decoder_attention_settings {
  double score_scale = 1;
  double score_cap = 0;
  double input_limit = 0;
  bool alibi = false;
  bool bidirectional = false;
  std::size_t window = 0;
  std::size_t rotary = no_rotary;
  rotary_pairs pairs = rotary_pairs::half_split;
};

/// Attention of a decoder: new positions attend to themselves and to the cached positions. Positions are data, so the
/// types of queries and keys do not say whether they are rotated.
template <class Dims, class Weights = float>
struct decoder_attention {
  using seq = typename Dims::seq;
  using key_pos = typename Dims::key;
  using d_model = typename Dims::d_model;
  using kv_heads = part_of_dims<Dims, typename Dims::kv_heads>;
  using group = typename Dims::group;
  using d_k = typename Dims::d_k;
  using d_v = typename Dims::d_v;
  using mapped_list = std::vector<mapped_inputs<Dims, Weights>>;
  using latent_list = std::vector<latent_inputs<Dims, Weights>>;
  using output_projection = nn::linear<nn::from<typename Dims::kv_heads, group, d_v>,
                                       nn::to<part_of_dims<Dims, d_model>>, nn::optional_bias, Weights>;
  using query_norm_type = head_norm<d_k, kv_heads, group>;
  using key_norm_type = head_norm<d_k, kv_heads>;
  using sink_list = std::vector<tensor<float, kv_heads, group>>;
  using features = tensor<float, seq, d_model>;
  using queries = tensor<float, seq, kv_heads, group, d_k>;
  using keys = tensor<float, seq, kv_heads, d_k>;
  using values = tensor<float, seq, kv_heads, d_v>;
  using context = tensor<float, seq, kv_heads, group, d_v>;
  using cache = nn::kv_cache<key_pos, nn::windowed, nn::keys<float, kv_heads, key_pos, d_k>,
                             nn::values<float, kv_heads, key_pos, d_v>>;

  // One of both.
  mapped_list mapped{};
  latent_list latent{};
  output_projection output{};
  query_norm_type query_norm{};
  key_norm_type key_norm{};
  sink_list sinks{};
  decoder_attention_settings settings{};
  using members = nn::member_list<&decoder_attention::mapped, &decoder_attention::latent, &decoder_attention::output,
                                  &decoder_attention::query_norm, &decoder_attention::key_norm,
                                  &decoder_attention::sinks, &decoder_attention::settings>;

  decoder_attention() = default;
  /// The attention of a layer with these settings, whose parameters are empty.
  decoder_attention(const decoder_config& c, const decoder_layer_config& layer)
      : mapped(c.latent == 0 ? 1 : 0),
        latent(),
        output(),
        query_norm(c.head_norm, c.head_norm_settings, c.kv_heads * c.group),
        key_norm(c.head_norm, c.head_norm_settings, c.kv_heads),
        sinks(c.sinks ? 1 : 0),
        settings{scale_of_scores(c.score_scale, c.d_k) * layer.score_scale,
                 c.score_cap,
                 c.input_limit,
                 c.alibi,
                 c.bidirectional,
                 layer.window,
                 no_rotary,
                 rotary_pairs::half_split} {
    for (auto& maps : mapped) {
      maps.query.has_bias(c.input_bias);
      maps.key.has_bias(c.input_bias);
      maps.value.has_bias(c.input_bias);
    }
    if (c.latent > 0) { latent.emplace_back(c); }
    output.has_bias(c.output_bias);
    if (layer.rotary < c.rotary.size() && !c.rotary[layer.rotary].angles.empty()) {
      settings.rotary = layer.rotary;
      settings.pairs = c.rotary[layer.rotary].pairs;
    }
  }

  /// Joins norms of queries and keys that were read head by head.
  void join_norms(const decoder_config& c, const gatherer_of<Dims>& parts = {}) {
    using dimwise::detail::extent_or_static;
    const kv_heads heads = parts.template part<typename Dims::kv_heads>(c.kv_heads);
    query_norm.join(heads, extent_or_static<group>(c.group), extent_or_static<d_k>(c.d_k));
    key_norm.join(heads, extent_or_static<d_k>(c.d_k));
  }

  /// Attends from the positions of x, which are appended to `held`.
  [[nodiscard]] features operator()(const features& x, cache& held, const decoder_positions<Dims>& at) const {
    queries q;
    keys k;
    values v;
    if (latent.empty()) {
      const auto& maps = mapped.front();
      q = query_norm(queries(maps.query(x)));
      k = key_norm(keys(maps.key(x)));
      v = maps.value(x);
    } else {
      const auto& maps = latent.front();
      const auto from = maps.compressed(x);
      q = maps.queries_of(x);
      k = maps.keys_of(x, from, q);
      v = maps.value(from);
    }
    if (settings.input_limit > 0) {
      const auto most = static_cast<float>(settings.input_limit);
      q = queries(clamp(q, -most, most));
      k = keys(clamp(k, -most, most));
      v = values(clamp(v, -most, most));
    }
    if (settings.rotary != no_rotary) {
      const auto& table = at.rotary[settings.rotary];
      q = plain(rotary<seq, d_k>(q, table.cosines, table.sines, settings.pairs));
      k = plain(rotary<seq, d_k>(k, table.cosines, table.sines, settings.pairs));
    }
    const std::size_t count = extent_of<seq>(x);
    if (count <= held.at_once() || held.kept_window() == 0) {
      held.append(rename<seq, key_pos>(k), rename<seq, key_pos>(v));
      return projected(attended(q, held, at), at);
    }
    // The cache of a window takes a long prompt in parts.
    std::vector<float> all;
    for (std::size_t begin = 0; begin < count;) {
      const std::size_t n = std::min<std::size_t>(held.at_once(), count - begin);
      held.append(rename<seq, key_pos>(keys(slice<seq>(k, begin, n))),
                  rename<seq, key_pos>(values(slice<seq>(v, begin, n))));
      const context part = attended(queries(slice<seq>(q, begin, n)), held, at);
      all.insert(all.end(), part.data(), part.data() + part.size());
      begin += n;
    }
    context whole = context::for_overwriting(context_extents(q, v));
    std::copy(all.begin(), all.end(), whole.overwrite());
    return projected(whole, at);
  }

 private:
  // The output of all heads.
  [[nodiscard]] features projected(const context& c, const decoder_positions<Dims>& at) const {
    return at.parts.template whole<d_model>(output(at.parts.template whole<typename Dims::kv_heads>(c)));
  }
  // The extents of queries with the features of values.
  [[nodiscard]] static auto context_extents(const queries& q, const values& v) {
    return dimwise::detail::merge_extents<typename context::extents_type::atoms>("attention", q.extents(), v.extents());
  }
  [[nodiscard]] context attended(const queries& q, const cache& held, const decoder_positions<Dims>& at) const {
    const nn::scaled_by scale{settings.score_scale};
    const std::ptrdiff_t before = settings.window == 0 ? -1 : static_cast<std::ptrdiff_t>(settings.window) - 1;
    const window<seq, key_pos> visible(before, settings.bidirectional ? before : 0);
    if (!sinks.empty()) {
      return nn::attention_with_sinks<d_k, key_pos>(q, held.keys(), held.values(), sinks.front(), scale, visible);
    }
    if (settings.score_cap != 0) {
      return nn::attention<d_k, key_pos>(q, held.keys(), held.values(), scale, nn::soft_cap{settings.score_cap},
                                         visible);
    }
    if (settings.alibi) { return nn::attention<d_k, key_pos>(q, held.keys(), held.values(), scale, at.alibi, visible); }
    return nn::attention<d_k, key_pos>(q, held.keys(), held.values(), scale, visible);
  }
};

/// The settings of a layer besides its attention.
struct decoder_block_settings {
  norm_place place = norm_place::before;
  bool parallel = false;
  bool single_norm = false;
  bool residual_from_norm = false;
  double residual_scale = 1;
};

/// A layer of a decoder: attention and a feed-forward layer or a mixture of experts, with their norms and residuals.
template <class Dims, class Weights = float>
struct decoder_block {
  using seq = typename Dims::seq;
  using d_model = typename Dims::d_model;
  using features = tensor<float, seq, d_model>;
  using attention_type = decoder_attention<Dims, Weights>;
  using norm_type = any_norm<d_model>;
  using feed_type = any_feed_forward<d_model, typename Dims::hidden, Weights, Dims>;
  using mixture_type = mixture_of_experts<seq, d_model, typename Dims::experts, typename Dims::expert_hidden, Weights,
                                          typename Dims::shared_hidden, Dims>;
  using feed_list = std::vector<feed_type>;
  using mixture_list = std::vector<mixture_type>;
  using cache = typename attention_type::cache;

  // Norms before attention and feed-forward (or of the sums), and norms of their outputs. A layer has a feed-forward
  // layer or a mixture.
  norm_type norm1{};
  attention_type attention{};
  norm_type output_norm1{};
  norm_type norm2{};
  feed_list feed_forward{};
  mixture_list mixture{};
  norm_type output_norm2{};
  decoder_block_settings settings{};
  using members = nn::member_list<&decoder_block::norm1, &decoder_block::attention, &decoder_block::output_norm1,
                                  &decoder_block::norm2, &decoder_block::feed_forward, &decoder_block::mixture,
                                  &decoder_block::output_norm2, &decoder_block::settings>;

  decoder_block() = default;
  /// A layer with these settings, whose parameters are empty.
  decoder_block(const decoder_config& c, const decoder_layer_config& layer)
      : norm1(c.place == norm_place::after ? no_norm() : c.norm),
        attention(c, layer),
        output_norm1(has_output_norms(c) ? c.norm : no_norm()),
        norm2(c.place == norm_place::after || (c.parallel && c.single_norm) ? no_norm() : c.norm),
        feed_forward(),
        mixture(),
        output_norm2(has_output_norms(c) ? c.norm : no_norm()),
        settings{c.place, c.parallel, c.single_norm, c.residual_from_norm, c.residual_scale} {
    if (layer.sparse) {
      mixture.resize(1);
      mixture.front().experts.assign(c.experts, typename mixture_type::expert_type(c.feed));
      mixture.front().settings = {c.chosen_experts, c.renormalised,       c.near_experts, c.expert_groups,
                                  c.chosen_groups,  c.experts_by_sigmoid, c.expert_scale};
      mixture.front().correction.resize(c.experts_by_sigmoid ? 1 : 0);
      mixture.front().router.has_bias(c.router_bias);
      if (c.shared_hidden > 0) {
        mixture.front().shared.emplace_back(c.feed);
        mixture.front().gate.resize(c.shared_gate ? 1 : 0);
      }
    } else {
      feed_forward.emplace_back(c.feed);
    }
  }

  [[nodiscard]] features operator()(const features& x, cache& held, const decoder_positions<Dims>& at) const;

 private:
  static norm_settings no_norm() {
    norm_settings none;
    none.kind = norm_kind::none;
    return none;
  }
  static bool has_output_norms(const decoder_config& c) {
    return c.place == norm_place::after || c.place == norm_place::both;
  }
  [[nodiscard]] features fed(const features& x, const decoder_positions<Dims>& at) const {
    return mixture.empty() ? features(feed_forward.front()(x, at.parts)) : mixture.front()(x, at.parts);
  }
  [[nodiscard]] features scaled(const features& x) const {
    return settings.residual_scale == 1 ? x : features(x * static_cast<float>(settings.residual_scale));
  }
};

template <class Dims, class Weights>
typename decoder_block<Dims, Weights>::features decoder_block<Dims, Weights>::operator()(
    const features& x, cache& held, const decoder_positions<Dims>& at) const {
  const bool of_sums = settings.place == norm_place::sum;
  const features first = of_sums ? x : norm1(x);
  const features branch = scaled(output_norm1(attention(first, held, at)));
  const features& base = settings.residual_from_norm ? first : x;
  if (settings.parallel) {
    return base + branch + scaled(output_norm2(fed(settings.single_norm ? first : norm2(x), at)));
  }
  features sum = base + branch;
  if (of_sums) { sum = norm1(sum); }
  const features second = of_sums ? sum : norm2(sum);
  features result = (settings.residual_from_norm ? second : sum) + scaled(output_norm2(fed(second, at)));
  return of_sums ? norm2(result) : result;
}

}  // namespace dimwise::models
