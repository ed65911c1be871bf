// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/decoder.hpp -- a decoder-only language model whose settings are data: one compiled formula for
// all architectures.
//
// Layer: models.
// Tests: tests/models/decoders/decoder.test.cpp, the conformance suite `architectures`
//
//   const auto model = models::read_decoder("folder");                  // models/decoders.hpp
//   auto caches = model.start(2048);
//   tensor logits = model.next(tokens, caches);                         // logits of the next token
#pragma once

#include <dimwise/models/decoder/decoder_output.hpp>
#include <dimwise/models/decoder/layers.hpp>
#include <dimwise/models/language_model.hpp>

#include <algorithm>

namespace dimwise::models {

namespace detail {

// Those of the whole dimensions.
template <class Dims>
[[nodiscard]] auto whole_decoder_extents(const decoder_config& c) {
  using dimwise::detail::extent_or_static;
  return detail::run_time_extents(
      extent_or_static<typename Dims::vocab>(c.vocab), extent_or_static<typename Dims::rows>(c.position_rows),
      extent_or_static<typename Dims::d_model>(c.d_model),
      extent_or_static<typename Dims::d_embedding>(c.d_embedding == 0 ? c.d_model : c.d_embedding),
      extent_or_static<typename Dims::kv_heads>(c.kv_heads), extent_or_static<typename Dims::group>(c.group),
      extent_or_static<typename Dims::d_k>(c.d_k), extent_or_static<typename Dims::d_v>(c.value_features()),
      extent_or_static<typename Dims::latent>(c.latent), extent_or_static<typename Dims::query_latent>(c.query_latent),
      extent_or_static<typename Dims::d_content>(c.d_k - std::min(c.d_k, c.d_rotated)),
      extent_or_static<typename Dims::d_rotated>(c.d_rotated), extent_or_static<typename Dims::hidden>(c.hidden),
      extent_or_static<typename Dims::experts>(c.experts),
      extent_or_static<typename Dims::expert_hidden>(c.expert_hidden),
      extent_or_static<typename Dims::shared_hidden>(c.shared_hidden));
}

}  // namespace detail

/// All run-time extents of these settings, as a tuple of dimensions: for bindings and `nn::initialise`. If ranks divide
/// the decoder, also those of this rank's parts.
template <class Dims>
[[nodiscard]] auto decoder_extents(const decoder_config& c, [[maybe_unused]] const gatherer_of<Dims>& parts = {}) {
  if constexpr (divided_dims<Dims>) {
    return std::tuple_cat(
        detail::whole_decoder_extents<Dims>(c),
        detail::run_time_extents(
            parts.template part<typename Dims::vocab>(c.vocab), parts.template part<typename Dims::d_model>(c.d_model),
            parts.template part<typename Dims::d_embedding>(c.d_embedding == 0 ? c.d_model : c.d_embedding),
            parts.template part<typename Dims::kv_heads>(c.kv_heads),
            parts.template part<typename Dims::hidden>(c.hidden),
            parts.template part<typename Dims::expert_hidden>(c.expert_hidden),
            parts.template part<typename Dims::shared_hidden>(c.shared_hidden)));
  } else {
    return detail::whole_decoder_extents<Dims>(c);
  }
}

/// Compares the settings with the static extents of Dims.
template <class Dims>
void check_decoder_extents(io::config_check& config, const decoder_config& c) {
  (void)config.implied<typename Dims::vocab>("the vocabulary", c.vocab);
  (void)config.implied<typename Dims::d_model>("the number of features", c.d_model);
  (void)config.implied<typename Dims::d_embedding>("the number of features of a token embedding",
                                                   c.d_embedding == 0 ? c.d_model : c.d_embedding);
  (void)config.implied<typename Dims::kv_heads>("the number of key heads", c.kv_heads);
  (void)config.implied<typename Dims::group>("the number of query heads per key head", c.group);
  (void)config.implied<typename Dims::d_k>("the number of features of a head", c.d_k);
  (void)config.implied<typename Dims::d_v>("the number of features of a head's values", c.value_features());
  if (c.latent > 0) {
    (void)config.implied<typename Dims::latent>("the number of features of a latent vector", c.latent);
    (void)config.implied<typename Dims::d_rotated>("the number of rotated features of a head", c.d_rotated);
    (void)config.implied<typename Dims::d_content>("the number of other features of a head",
                                                   c.d_k - std::min(c.d_k, c.d_rotated));
  }
  if (c.query_latent > 0) {
    (void)config.implied<typename Dims::query_latent>("the number of features of a latent query", c.query_latent);
  }
  (void)config.implied<typename Dims::hidden>("the number of hidden features", c.hidden);
  if (c.position_rows > 0) {
    (void)config.implied<typename Dims::rows>("the number of learned positions", c.position_rows);
  }
  if (c.experts > 0) {
    (void)config.implied<typename Dims::experts>("the number of experts", c.experts);
    (void)config.implied<typename Dims::expert_hidden>("the number of hidden features of an expert", c.expert_hidden);
  }
  if (c.shared_hidden > 0) {
    (void)config.implied<typename Dims::shared_hidden>("the number of hidden features of the shared expert",
                                                       c.shared_hidden);
  }
}

/// A decoder. Weights is the format of the weights and the embedding (nn/weight.hpp); norms, biases, positions and
/// routers are floats.
template <class Dims = decoder_dims, class Weights = float>
struct decoder : language_model<decoder<Dims, Weights>, Dims, decoder_block<Dims, Weights>> {
  using dims = Dims;
  using weights = Weights;
  using base = language_model<decoder<Dims, Weights>, Dims, decoder_block<Dims, Weights>>;
  using typename base::features_type;
  using typename base::token;
  using vocab = typename Dims::vocab;
  using seq = typename Dims::seq;
  using d_model = typename Dims::d_model;
  using d_embedding = typename Dims::d_embedding;
  using block = decoder_block<Dims, Weights>;
  using token_embedding_type = nn::embedding<vocab, part_of_dims<Dims, d_embedding>, Weights>;
  using project_type = nn::linear<nn::from<d_embedding>, nn::to<d_model>, nn::no_bias, Weights>;
  using project_list = std::vector<project_type>;
  using position_list = std::vector<tensor<float, typename Dims::rows, d_model>>;
  using block_list = std::vector<block>;
  using norm_type = any_norm<d_model>;
  using output_type = decoder_output<Dims, Weights>;

  token_embedding_type token_embedding{};
  project_list project{};
  position_list positions{};
  norm_type embedding_norm{};
  block_list blocks{};
  norm_type norm{};
  output_type output{};
  using members = nn::member_list<&decoder::token_embedding, &decoder::project, &decoder::positions,
                                  &decoder::embedding_norm, &decoder::blocks, &decoder::norm, &decoder::output>;
  decoder_config config{};

  /// The layers that this model has.
  layer_run here{};
  /// What makes parts whole, if ranks divide the layers.
  gatherer_of<Dims> parts{};

  decoder() = default;
  /// A decoder with these settings, whose parameters are empty.
  explicit decoder(const decoder_config& c) : decoder(c, {0, c.layers.size(), c.layers.size()}) {}
  /// The layers `run` of a decoder with these settings, whose parameters are empty. The first run has the embedding,
  /// the last one has the final norm and the output; if they share the table of tokens, both have it. If ranks divide
  /// the layers, the embedding has this rank's features of the table, and the output its tokens.
  decoder(const decoder_config& c, const layer_run& run, gatherer_of<Dims> gathered = {})
      : token_embedding(),
        project(run.is_first() && has_projections(c) ? 1 : 0),
        positions(run.is_first() && c.position_rows > 0 ? 1 : 0),
        embedding_norm(run.is_first() ? c.embedding_norm : norm_settings{.kind = norm_kind::none}),
        blocks(),
        norm(run.is_last() && c.final_norm ? c.norm : norm_settings{.kind = norm_kind::none}),
        output(),
        config(c),
        here(run),
        parts(std::move(gathered)) {
    for (std::size_t i = run.begin; i < run.end; ++i) { blocks.emplace_back(c, c.layers[i]); }
    output.settings = {c.has_output, c.logit_scale, c.logit_cap, c.vocab};
    if (!run.is_last() || !c.has_output) { return; }
    output.project.resize(has_projections(c) ? 1 : 0);
    output.map.resize(c.tied && !divided_dims<Dims> ? 0 : 1);
    output.bias.resize(c.vocab_bias ? 1 : 0);
  }
  /// Whether this model has the table of tokens.
  [[nodiscard]] bool has_tokens() const {
    return here.is_first() || (here.is_last() && config.tied && !divided_dims<Dims>);
  }

  /// The embeddings of tokens and positions: [seq]  ->  [seq, d_model].
  [[nodiscard]] features_type embedded(const tensor<id<vocab>, seq>& text) const {
    using rows = typename Dims::rows;
    const tensor<float, seq, d_embedding> tokens = parts.template whole<d_embedding>(tensor(token_embedding(text)));
    features_type x =
        project.empty() ? features_type(relabel<d_embedding, d_model>(tokens)) : features_type(project.front()(tokens));
    if (config.embedding_scale != 1) { x = x * static_cast<float>(config.embedding_scale); }
    if (!positions.empty()) {
      std::vector<id<rows>> at;
      const auto first = static_cast<std::size_t>(text.extents().template origin<seq>("embedded"));
      for (std::size_t i = 0; i < text.size(); ++i) { at.emplace_back(first + i + config.position_offset); }
      x = x + gather<rows>(positions.front(), tensor<id<rows>, seq>(std::span<const id<rows>>(at), positions_of(text)));
    }
    return embedding_norm(x);
  }
  /// The values that all layers share for the new positions of `text`.
  [[nodiscard]] decoder_positions<Dims> shared_by_layers(const tensor<id<vocab>, seq>& text) const {
    using key = typename Dims::key;
    decoder_positions<Dims> shared;
    shared.parts = parts;
    const seq at = positions_of(text);
    const std::size_t end = static_cast<std::size_t>(at.origin()) + at.extent();
    for (const rotary_settings& r : config.rotary) {
      shared.rotary.push_back(tables_of<seq, typename Dims::pairs>(r.angles_for(end), r.scale_for(end), at));
    }
    if (config.alibi) {
      // The bias slope · (key − query) of every score of a query may lack −slope · query, which softmax cancels.
      const std::size_t heads = config.kv_heads * config.group;
      const auto own = parts.template part<typename Dims::kv_heads>(config.kv_heads);
      const std::size_t first = parts.rank() * own.extent() * config.group;
      std::vector<float> biases;
      for (std::size_t h = first; h < first + own.extent() * config.group; ++h) {
        const double slope = dimwise::detail::alibi_slope(h, heads) * config.alibi_scale;
        for (std::size_t k = 0; k < end; ++k) {
          biases.push_back(static_cast<float>(-slope * static_cast<double>(end - 1 - k)));
        }
      }
      shared.alibi = make_tensor<decltype(shared.alibi)>(biases, own, typename Dims::group{config.group},
                                                         starting_at(key{end}, 0));
    }
    return shared;
  }

  /// The KV cache of every layer, and with LongRoPE the text that the caches hold.
  struct state : base::state {
    std::size_t length = 0;
    std::vector<token> text{};
  };
  /// Empty caches for `length` positions; those of layers with a window keep the positions that are seen.
  [[nodiscard]] state start(std::size_t length) const {
    state s;
    s.length = length;
    for (const block& b : blocks) {
      const std::size_t window = b.attention.settings.window;
      const bool slides = window > 0 && window < length / 2 && !config.bidirectional;
      s.push_back(cache_for(slides ? 2 * window : length));
      if (slides) { s.back().keep_window(window); }
    }
    return s;
  }
  /// As `language_model::features`. A text that outgrows the positions of training under LongRoPE is recomputed
  /// with the angles of long texts. Throws `origin_error` if its caches do not begin at position 0, and if attention
  /// is bidirectional and the caches are not empty: the text before saw other keys.
  template <class Seen, class Embed>
  [[nodiscard]] features_type features(std::span<const token> tokens, state& caches, const Seen& seen,
                                       const Embed& embed) const {
    if (config.bidirectional && !caches.empty() && caches.front().end() > 0) {
      dimwise::detail::raise<origin_error>(error{} << "features: attention is bidirectional, and the caches hold the "
                                                   << "keys of " << static_cast<long long>(caches.front().end())
                                                   << " tokens; a whole text in one call was expected");
    }
    if (std::none_of(config.rotary.begin(), config.rotary.end(), [](const auto& r) { return r.depends_on_length(); }) ||
        caches.size() != blocks.size() || caches.empty()) {
      return continued(tokens, caches, seen, embed);
    }
    const auto held = static_cast<std::size_t>(caches.front().end());
    if (caches.text.size() < held) {
      dimwise::detail::raise<origin_error>(error{} << "features: LongRoPE needs the text from position 0 on, and the "
                                                      "caches hold positions that this model did not read");
    }
    std::vector<token> all(caches.text.begin(), caches.text.begin() + static_cast<std::ptrdiff_t>(held));
    all.insert(all.end(), tokens.begin(), tokens.end());
    const auto outgrown = [&](const rotary_settings& r) { return !r.is_long(held) && r.is_long(all.size()); };
    features_type x;
    if (held == 0 || std::none_of(config.rotary.begin(), config.rotary.end(), outgrown)) {
      x = continued(tokens, caches, seen, embed);
    } else {
      state again = start(caches.length);
      x = slice<seq>(base::features(all, again, seen, embed), held, tokens.size());
      caches = std::move(again);
    }
    caches.text = std::move(all);
    return x;
  }
  template <class Seen>
  [[nodiscard]] features_type features(std::span<const token> tokens, state& caches, const Seen& seen) const {
    return features(tokens, caches, seen, [&](const tensor<id<vocab>, seq>& read) { return embedded(read); });
  }
  [[nodiscard]] features_type features(std::span<const token> tokens, state& caches) const {
    return features(tokens, caches, [](std::size_t, const auto&) {});
  }

  /// The maximum number of positions in training.
  [[nodiscard]] std::size_t longest() const { return config.longest; }
  /// Whether a prompt of this length has other logits if it is read in parts: under dynamic NTK beyond `longest`.
  [[nodiscard]] bool reads_whole(std::size_t length) const {
    return std::any_of(config.rotary.begin(), config.rotary.end(),
                       [&](const rotary_settings& r) { return r.dynamic_factor != 0 && length > r.trained; });
  }
  /// An empty cache of one block for `length` tokens.
  [[nodiscard]] typename block::cache cache_for(std::size_t length) const {
    return make_cache<typename block::cache>(
        typename Dims::key{length}, parts.template part<typename Dims::kv_heads>(config.kv_heads),
        dimwise::detail::extent_or_static<typename Dims::d_k>(config.d_k),
        dimwise::detail::extent_or_static<typename Dims::d_v>(config.value_features()));
  }

 private:
  // The features of the next tokens. What a window no longer sees cannot come back after an exception, so a text that
  // windows take in parts is appended to copies.
  template <class Seen, class Embed>
  [[nodiscard]] features_type continued(std::span<const token> tokens, state& caches, const Seen& seen,
                                        const Embed& embed) const {
    const bool in_parts = std::any_of(caches.begin(), caches.end(), [&](const auto& one) {
      return one.kept_window() > 0 && tokens.size() > one.at_once();
    });
    if (!in_parts) { return base::features(tokens, caches, seen, embed); }
    state longer = caches;
    features_type x = base::features(tokens, longer, seen, embed);
    caches = std::move(longer);
    return x;
  }
  // Whether embeddings have another number of features than the layers.
  [[nodiscard]] static bool has_projections(const decoder_config& c) {
    return c.d_embedding != 0 && c.d_embedding != c.d_model;
  }
  [[nodiscard]] static seq positions_of(const tensor<id<vocab>, seq>& text) {
    return starting_at(seq{text.size()}, text.extents().template origin<seq>("embedded"));
  }
};

}  // namespace dimwise::models
