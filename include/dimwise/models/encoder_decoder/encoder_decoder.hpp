// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder_decoder/encoder_decoder.hpp -- a model that reads a source text and writes another one:
// translation, summaries, answers.
//
// Layer: models.
// Tests: tests/models/encoder_decoder.test.cpp, the conformance suite `architectures`
//
//   const auto model = models::read_encoder_decoder("folder");
//   auto state = model.start(source, 64);                            // runs the encoder; room for 64 tokens
//   auto text = models::generate_greedy(model, model.first(), 63, state);
#pragma once

#include <dimwise/models/encoder/empty.hpp>
#include <dimwise/models/encoder/encoder.hpp>
#include <dimwise/models/encoder_decoder/blocks.hpp>

#include <limits>
#include <span>
#include <vector>

namespace dimwise::models {

/// An encoder-decoder. Weights is the format of the weights and the embedding (nn/weight.hpp); norms and biases are
/// floats.
template <class Dims = encoder_decoder_dims, class Weights = float>
struct encoder_decoder {
  using dims = Dims;
  using weights = Weights;
  using vocab = typename Dims::vocab;
  using buckets = typename Dims::buckets;
  using seq = typename Dims::seq;
  using target = typename Dims::target;
  using past = typename Dims::past;
  using d_embed = typename Dims::d_embed;
  using d_model = typename Dims::d_model;
  using heads = typename Dims::heads;
  using token = id<vocab>;
  using encoder_type = models::encoder<Dims, Weights>;
  using block = encoder_decoder_block<Dims, Weights>;
  using bucket_list = std::vector<tensor<float, buckets, heads>>;
  using block_list = std::vector<block>;
  using norm_type = any_norm<d_model>;
  using position_list = typename encoder_type::position_list;
  using embedding_norm_list = typename encoder_type::embedding_norm_list;
  using logit_bias_list = std::vector<tensor<float, typename Dims::one, vocab>>;
  using map_type = nn::linear<nn::from<d_embed>, nn::to<vocab>, nn::no_bias, Weights>;
  using map_list = std::vector<map_type>;
  using source_type = tensor<float, seq, d_model>;
  using features_type = tensor<float, target, d_model>;
  using logits_type = tensor<float, target, vocab>;

  // The decoder embeds its tokens by the encoder's table; without `output`, the table also gives the logits.
  encoder_type encoder{};
  position_list positions{};
  embedding_norm_list embedding_norm{};
  bucket_list distances{};
  block_list blocks{};
  norm_type norm{};
  map_list output{};
  logit_bias_list logit_bias{};
  using members =
      nn::member_list<&encoder_decoder::encoder, &encoder_decoder::positions, &encoder_decoder::embedding_norm,
                      &encoder_decoder::distances, &encoder_decoder::blocks, &encoder_decoder::norm,
                      &encoder_decoder::output, &encoder_decoder::logit_bias>;
  encoder_decoder_config config{};

  encoder_decoder() = default;
  /// A model of these settings, whose parameters are empty.
  explicit encoder_decoder(const encoder_decoder_config& c)
      : encoder(detail::empty_encoder<Dims, Weights>(c.encoder, encoder_task::features)),
        positions(c.encoder.extents.positions > 0 ? 1 : 0),
        embedding_norm(c.encoder.embedding_norm ? 1 : 0, any_norm<d_embed>(c.encoder.norm)),
        distances(c.encoder.extents.buckets == 0 ? 0 : (c.encoder.distances_of_blocks ? c.layers : 1)),
        blocks(c.layers, block(c.encoder)),
        norm(c.encoder.norm_first ? c.encoder.norm : norm_settings{norm_kind::none}),
        output(c.tied ? 0 : 1),
        logit_bias(c.logit_bias ? 1 : 0),
        config(c) {}

  /// The state of one text of the decoder: the keys and values of its own positions and of the source, for each layer.
  struct state {
    std::vector<typename block::cache> past{};
    std::vector<typename block::memory> source{};
  };

  /// The features of a source text: [seq, d_model]. Throws `extent_error` if it is empty.
  [[nodiscard]] source_type encoded(const std::vector<token>& source) const { return encoder.features(source); }
  /// The state before the first token of the decoder, for these features of a source and `length` tokens.
  [[nodiscard]] state start(const source_type& source, std::size_t length) const;
  /// The state before the first token of the decoder, for this source text and `length` tokens. Runs the encoder.
  [[nodiscard]] state start(const std::vector<token>& source, std::size_t length) const {
    return start(encoded(source), length);
  }
  /// The tokens that every text of the decoder begins with: one, or two if the configuration forces the second.
  [[nodiscard]] std::vector<token> first() const {
    std::vector<token> all{token(config.start)};
    if (config.forced) { all.emplace_back(*config.forced); }
    return all;
  }

  /// The features of new tokens of the decoder after the last norm: [target, d_model]; appends them to the caches.
  /// Throws `extent_error` if the state is not one of this model, or if the text would have more tokens than the model
  /// has positions; after an exception the state has not changed.
  [[nodiscard]] features_type features(std::span<const token> tokens, state& s) const;
  /// [target, d_model] -> [target, vocab]
  [[nodiscard]] logits_type logits(const features_type& x) const;
  /// The logits of the token after the last one: [vocab]; −∞ for tokens that the configuration excludes. Throws
  /// `extent_error` if `tokens` is empty.
  [[nodiscard]] tensor<float, vocab> next(std::span<const token> tokens, state& s) const {
    if (tokens.empty()) { dimwise::detail::raise<extent_error>(error{} << "next: no tokens were given"); }
    const features_type x = features(tokens, s);
    const features_type last = slice<target>(x, extent_of<target>(x) - 1, 1);
    tensor<float, vocab> made = at<target>(logits(last), 0);
    for (const std::size_t excluded : config.never) {
      made.overwrite()[excluded] = -std::numeric_limits<float>::infinity();
    }
    return made;
  }

 private:
  // The features of tokens before the first layer.
  [[nodiscard]] features_type embedded(const tensor<token, target>& text, const target& queries) const {
    const encoder_config& c = config.encoder;
    tensor<float, target, d_embed> x = encoder.token_embedding(text);
    if (c.embedding_scale != 1) { x = x * static_cast<float>(c.embedding_scale); }
    if (!positions.empty() || c.sinusoid != sinusoid_kind::none) {
      tensor<id<seq>, target> rows(queries);
      const std::size_t first = c.positions_skip_padding ? c.pad + 1 : c.first_position;
      dimwise::id<seq>* row = rows.overwrite();
      for (std::size_t i = 0; i < queries.extent(); ++i) {
        row[i] = id<seq>(first + static_cast<std::size_t>(queries.origin()) + i);
      }
      if (positions.empty()) {
        x = x + sinusoids_of<d_embed>(c.sinusoid, rows, queries, extent_in<d_embed>(x), 0);
      } else {
        x = x + gather<seq>(positions.front().table, rows);
      }
    }
    if (!embedding_norm.empty()) { x = embedding_norm.front()(x); }
    return relabel<d_embed, d_model>(x);
  }
  [[nodiscard]] typename block::bias_list biases(const target& queries, std::size_t layer) const {
    typename block::bias_list made;
    const auto end = static_cast<std::size_t>(queries.origin()) + queries.extent();
    if (!distances.empty()) {
      const auto& table = distances[distances.size() > 1 ? layer : 0];
      const auto rows =
          relative_ids<target, past, buckets>(queries, starting_at(past{end}, 0), extent_in<buckets>(table),
                                              t5_buckets{false, config.encoder.bucket_distance});
      made.push_back(gather<buckets>(table, rows));
    }
    return made;
  }
  void check(const state& s) const {
    if (s.past.size() != blocks.size() || s.source.size() != blocks.size()) {
      dimwise::detail::raise<extent_error>(error{} << "features: the decoder has " << blocks.size()
                                                   << " layers, but the state has " << s.past.size() << " caches and "
                                                   << s.source.size() << " sources; `start` makes one (R10)");
    }
    for (const auto& one : s.past) {
      if (one.end() != s.past.front().end()) {
        dimwise::detail::raise<origin_error>(error{} << "features: the caches of the layers end at positions "
                                                     << static_cast<long long>(s.past.front().end()) << " and "
                                                     << static_cast<long long>(one.end())
                                                     << "; the caches of one text end at the same position");
      }
    }
  }
};

template <class Dims, class Weights>
typename encoder_decoder<Dims, Weights>::state encoder_decoder<Dims, Weights>::start(const source_type& source,
                                                                                     std::size_t length) const {
  state s;
  const encoder_extents& e = config.encoder.extents;
  for (const block& b : blocks) {
    s.past.push_back(
        make_cache<typename block::cache>(past{length}, dimwise::detail::extent_or_static<heads>(e.heads),
                                          dimwise::detail::extent_or_static<typename Dims::d_k>(e.of_head),
                                          dimwise::detail::extent_or_static<typename Dims::d_v>(e.of_head)));
    s.source.push_back(b.cross.remembered(source));
  }
  return s;
}

template <class Dims, class Weights>
typename encoder_decoder<Dims, Weights>::features_type encoder_decoder<Dims, Weights>::features(
    std::span<const token> tokens, state& s) const {
  check(s);
  const std::ptrdiff_t begin = s.past.empty() ? 0 : s.past.front().end();
  const std::size_t end = static_cast<std::size_t>(begin) + tokens.size();
  if (end > encoder.longest()) {
    dimwise::detail::raise<extent_error>(error{} << "features: the text would have " << end
                                                 << " tokens, the decoder takes " << encoder.longest());
  }
  try {
    const target queries = starting_at(target{tokens.size()}, begin);
    features_type x = embedded(tensor<token, target>(tokens, queries), queries);
    auto bias = biases(queries, 0);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (distances.size() > 1 && i > 0) { bias = biases(queries, i); }
      x = blocks[i](x, s.past[i], s.source[i], bias, config.encoder.norm_first);
    }
    return norm(x);
  } catch (...) {
    for (auto& one : s.past) { one.forget(static_cast<extent_t>(one.end() - begin)); }
    throw;
  }
}

template <class Dims, class Weights>
typename encoder_decoder<Dims, Weights>::logits_type encoder_decoder<Dims, Weights>::logits(
    const features_type& x) const {
  tensor<float, target, d_embed> h = relabel<d_model, d_embed>(x);
  if (config.logit_scale != 1) { h = h * static_cast<float>(config.logit_scale); }
  const logits_type made =
      output.empty() ? logits_type(encoder.token_embedding.logits(h)) : logits_type(output.front()(h));
  if (logit_bias.empty()) { return made; }
  return made + tensor<float, vocab>(at<typename Dims::one>(logit_bias.front(), 0));
}

}  // namespace dimwise::models
