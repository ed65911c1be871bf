// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder/encoder.hpp -- an encoder of any family: features of tokens, vectors of texts, scores of
// labels, and logits of masked tokens.
//
// Layer: models. All families have one type; their differences are settings (encoder_config).
// Tests: tests/models/encoders/encoder.test.cpp, the conformance suite `architectures`
//
//   const auto model = models::read_encoder("folder");
//   tensor vectors = model.embedded(texts, models::pooling_kind::mean);        // batch d_model, each of length 1
#pragma once

#include <dimwise/models/common/scores.hpp>
#include <dimwise/models/encoder/blocks.hpp>
#include <dimwise/models/encoder/convolution.hpp>
#include <dimwise/models/encoder/heads.hpp>
#include <dimwise/models/language_model.hpp>
#include <dimwise/models/pooling.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace dimwise::models {

/// An encoder. Weights is the format of the layers' weights and the token embedding (nn/weight.hpp); other parameters
/// are floats.
template <class Dims = encoder_dims, class Weights = float>
struct encoder {
  using dims = Dims;
  using weights = Weights;
  using vocab = typename Dims::vocab;
  using segments = typename Dims::segments;
  using labels = typename Dims::labels;
  using buckets = typename Dims::buckets;
  using batch = typename Dims::batch;
  using seq = typename Dims::seq;
  using key = typename Dims::key;
  using d_embed = typename Dims::d_embed;
  using d_model = typename Dims::d_model;
  using heads = typename Dims::heads;
  using token = id<vocab>;
  using block_type = encoder_block<Dims, Weights>;
  using token_embedding_type = nn::embedding<vocab, d_embed, Weights>;
  using position_list = std::vector<nn::learned_positions<seq, d_embed>>;
  using segment_list = std::vector<nn::embedding<segments, d_embed>>;
  using embedding_norm_list = std::vector<any_norm<d_embed>>;
  using projection_list = std::vector<nn::linear<nn::from<d_embed>, nn::to<d_model>>>;
  using bucket_list = std::vector<tensor<float, buckets, heads>>;
  using distance_list = std::vector<tensor<float, buckets, d_model>>;
  using block_list = std::vector<block_type>;
  using convolution_list = std::vector<token_convolution<Dims>>;
  using norm_list = std::vector<any_norm<d_model>>;
  using label_list = std::vector<label_head<Dims>>;
  using token_list = std::vector<token_head<Dims>>;
  using embedded_type = tensor<float, packed_tokens, d_embed>;
  using packed_type = tensor<float, packed_tokens, d_model>;
  using features_type = tensor<float, batch, seq, d_model>;
  using vectors_type = tensor<float, batch, d_model>;
  using scores_type = tensor<float, batch, labels>;
  using token_scores_type = tensor<float, batch, seq, labels>;
  using token_logits_type = tensor<float, batch, seq, vocab>;

  token_embedding_type token_embedding{};
  position_list positions{};
  segment_list segment_table{};
  embedding_norm_list embedding_norm{};
  projection_list projection{};
  bucket_list distances{};
  distance_list distance_features{};
  norm_list distance_norm{};
  block_list blocks{};
  convolution_list convolution{};
  norm_list norm{};
  label_list classifier{};
  token_list predictor{};
  using members = nn::member_list<&encoder::token_embedding, &encoder::positions, &encoder::segment_table,
                                  &encoder::embedding_norm, &encoder::projection, &encoder::distances,
                                  &encoder::distance_features, &encoder::distance_norm, &encoder::blocks,
                                  &encoder::convolution, &encoder::norm, &encoder::classifier, &encoder::predictor>;
  encoder_config config{};
  encoder_task task = encoder_task::features;

  /// Texts as one batch: padded ids, the number of tokens of each text, and which text of a pair each token is from.
  struct batch_type {
    tensor<token, batch, seq> ids;
    tensor<int, batch> lengths;
    tensor<id<segments>, batch, seq> parts;
  };

  /// The maximum number of tokens of a text.
  [[nodiscard]] std::size_t longest() const { return config.longest; }

  /// The texts as a batch. `parts` has an entry for each token, or is empty: then all tokens are from the first text.
  /// Throws `extent_error` for a text without tokens or with more than `longest()`, or if `parts` has other lengths.
  [[nodiscard]] batch_type together(std::span<const std::vector<token>> texts,
                                    std::span<const std::vector<id<segments>>> parts = {}) const {
    if (!parts.empty() && parts.size() != texts.size()) {
      dimwise::detail::raise<extent_error>(error{} << "together: parts of " << parts.size() << " texts for "
                                                   << texts.size() << " texts");
    }
    std::size_t most = 0;
    tensor<int, batch> lengths(batch{texts.size()});
    for (std::size_t i = 0; i < texts.size(); ++i) {
      check_length(texts[i].size(), i);
      if (!parts.empty() && parts[i].size() != texts[i].size()) {
        dimwise::detail::raise<extent_error>(error{} << "together: text " << i << " has " << texts[i].size()
                                                     << " tokens, and its parts have " << parts[i].size()
                                                     << " entries");
      }
      most = std::max(most, texts[i].size());
      lengths.overwrite()[i] = static_cast<int>(texts[i].size());
    }
    batch_type made{tensor<token, batch, seq>(batch{texts.size()}, seq{most}), lengths,
                    tensor<id<segments>, batch, seq>(batch{texts.size()}, seq{most})};
    token* to = made.ids.overwrite();
    id<segments>* part = made.parts.overwrite();
    std::fill_n(to, texts.size() * most, token(config.pad));
    std::fill_n(part, texts.size() * most, id<segments>(0));
    for (std::size_t i = 0; i < texts.size(); ++i, to += most, part += most) {
      std::copy(texts[i].begin(), texts[i].end(), to);
      if (!parts.empty()) { std::copy(parts[i].begin(), parts[i].end(), part); }
    }
    return made;
  }

  /// The features of every token, after the last norm; zeros for padding, which is not computed. Throws `extent_error`
  /// if a text is longer than its row of ids.
  [[nodiscard]] features_type features(const batch_type& texts) const;
  /// The features of one text: [seq, d_model].
  [[nodiscard]] tensor<float, seq, d_model> features(const std::vector<token>& text) const {
    return at<batch>(features(together(std::span(&text, 1))), 0);
  }

  /// The vectors of texts without their first `left_out` tokens, which pooling of the first token ignores. Throws
  /// `extent_error` for another number of lengths, and for one outside the row of its text.
  [[nodiscard]] static vectors_type pooled(const features_type& x, const tensor<int, batch>& lengths, pooling_kind how,
                                           std::size_t left_out = 0) {
    if (how == pooling_kind::first) {
      detail::check_lengths("pooled", lengths.values(), extent_of<batch>(x), extent_of<seq>(x));
      return at<seq>(x, 0);
    }
    return detail::pooled_texts(x, lengths, how == pooling_kind::max,
                                [how, left_out](float* to, std::size_t end, std::size_t all) {
      detail::write_token_weights(how, to, left_out, end, all);
    });
  }
  /// The vectors of texts with length 1: the dot product of two vectors is their cosine similarity. The pooling skips
  /// the first `left_out` tokens, for example a prompt. Throws `number_error` for a vector without a direction: zeros,
  /// infinities, NaN, or elements whose squares overflow.
  [[nodiscard]] vectors_type embedded(std::span<const std::vector<token>> texts, pooling_kind how = pooling_kind::mean,
                                      std::size_t left_out = 0) const {
    const batch_type all = together(texts);
    return detail::of_length_one<d_model>(pooled(features(all), all.lengths, how, left_out));
  }
  /// The vector of one text.
  [[nodiscard]] tensor<float, d_model> embedded(const std::vector<token>& text, pooling_kind how = pooling_kind::mean,
                                                std::size_t left_out = 0) const {
    return at<batch>(embedded(std::span(&text, 1), how, left_out), 0);
  }

  /// The scores of the labels of texts with these features. Throws `extent_error` if the encoder was read for another
  /// task than `text_labels`, and for lengths as `pooled`.
  [[nodiscard]] scores_type scores(const features_type& x, const tensor<int, batch>& lengths) const;
  /// The scores of the labels of every token. Throws `extent_error` if the encoder was read for another task than
  /// `token_labels`.
  [[nodiscard]] token_scores_type token_scores(const features_type& x) const {
    expect(encoder_task::token_labels, "token_scores");
    return classifier.front()(x);
  }
  /// The logits of the token at every position. Throws `extent_error` if the encoder was read for another task than
  /// `masked_tokens`.
  [[nodiscard]] token_logits_type logits(const features_type& x) const;

 private:
  // The elements of a batch without padding.
  template <class Id>
  [[nodiscard]] static tensor<Id, packed_tokens> packed(const tensor<Id, batch, seq>& from, const batch_type& texts,
                                                        const packed_tokens& tokens) {
    tensor<Id, packed_tokens> all(tokens);
    Id* to = all.overwrite();
    const Id* row = from.data();
    for (const int length : texts.lengths.values()) {
      to = std::copy_n(row, length, to);
      row += extent_of<seq>(texts.ids);
    }
    return all;
  }
  [[nodiscard]] features_type padded(const packed_type& x, const batch_type& texts) const {
    features_type all(extent_in<batch>(texts.ids), extent_in<seq>(texts.ids), extent_in<d_model>(x));
    const std::size_t width = extent_of<d_model>(x);
    const std::size_t row = extent_of<seq>(texts.ids) * width;
    const float* from = x.data();
    float* to = all.overwrite();
    for (const int length : texts.lengths.values()) {
      const std::size_t count = static_cast<std::size_t>(length) * width;
      std::fill(std::copy_n(from, count, to), to + row, 0.0F);
      from += count;
      to += row;
    }
    return all;
  }
  void check_lengths(const batch_type& texts) const {
    const std::size_t width = extent_of<seq>(texts.ids);
    const std::size_t count = extent_of<batch>(texts.ids);
    detail::check_lengths("features", texts.lengths.values(), count, width);
    if (!segment_table.empty() && (extent_of<batch>(texts.parts) != count || extent_of<seq>(texts.parts) != width)) {
      dimwise::detail::raise<extent_error>(
          error{} << "features: the parts have the extents " << extent_of<batch>(texts.parts) << " and "
                  << extent_of<seq>(texts.parts) << ", the ids " << count << " and " << width);
    }
  }
  [[nodiscard]] packed_type begun(const batch_type& texts, const packed_tokens& tokens) const {
    embedded_type x = token_embedding(packed(texts.ids, texts, tokens));
    if (config.embedding_scale != 1) { x = x * static_cast<float>(config.embedding_scale); }
    if (!segment_table.empty()) { x = x + segment_table.front()(packed(texts.parts, texts, tokens)); }
    if (!positions.empty()) { x = x + gather<seq>(positions.front().table, places(texts, tokens)); }
    if (config.sinusoid != sinusoid_kind::none) {
      x = x + sinusoids_of<d_embed>(config.sinusoid, places(texts, tokens), tokens, extent_in<d_embed>(x),
                                    config.positions_skip_padding ? config.pad + 1 : 0);
    }
    if (!embedding_norm.empty()) { x = embedding_norm.front()(x); }
    if (!projection.empty()) { return projection.front()(x); }
    return relabel<d_embed, d_model>(x);
  }
  // The row of the position table for each token.
  [[nodiscard]] tensor<dimwise::id<seq>, packed_tokens> places(const batch_type& texts,
                                                               const packed_tokens& tokens) const {
    tensor<dimwise::id<seq>, packed_tokens> rows(tokens);
    const token* first = texts.ids.data();
    dimwise::id<seq>* row = rows.overwrite();
    for (const int length : texts.lengths.values()) {
      std::size_t at = config.positions_skip_padding ? config.pad + 1 : config.first_position;
      for (const token* id = first; id != first + length; ++id) {
        const bool counts = !config.positions_skip_padding || id->value != config.pad;
        *row++ = dimwise::id<seq>(counts ? at : config.pad);
        at += counts ? 1 : 0;
      }
      first += extent_of<seq>(texts.ids);
    }
    return rows;
  }
  // Each text has the first rows of a table with a row for every position.
  [[nodiscard]] auto angles(const seq& n, const packed_tokens& tokens) const {
    using pairs = typename Dims::pairs;
    std::vector<typename encoder_pass<Dims>::tables_type> made;
    for (const rotary_settings& one : config.rotary) {
      const auto table = tables_of<seq, pairs>(one.angles_for(n.extent()), one.scale, starting_at(n, 0));
      const auto rows = [&](const tensor<float, seq, pairs>& from) {
        tensor<float, packed_tokens, pairs> all(tokens, extent_in<pairs>(from));
        float* to = all.overwrite();
        for (const std::size_t length : tokens.documents()) {
          to = std::copy_n(from.data(), length * extent_of<pairs>(from), to);
        }
        return all;
      };
      made.push_back({rows(table.cosines), rows(table.sines)});
    }
    return made;
  }
  // The bias of this block: of its table if every block has one.
  [[nodiscard]] auto biases(const seq& n, std::size_t block) const {
    decltype(encoder_pass<Dims>::bias) made;
    if (!distances.empty()) {
      const auto& table = distances[distances.size() > 1 ? block : 0];
      const auto rows = relative_ids<seq, key, buckets>(seq{n.extent()}, key{n.extent()}, extent_in<buckets>(table),
                                                        t5_buckets{true, config.bucket_distance});
      made.push_back(gather<buckets>(table, rows));
    }
    return made;
  }
  // The features of the distances that texts up to this length have: the middle rows of the table.
  [[nodiscard]] auto disentangled(const seq& n) const {
    std::vector<disentangled_pass<Dims>> made;
    for (const auto& table : distance_features) {
      const disentangled_buckets& bucket = config.disentangled.buckets;
      const std::size_t all = extent_of<buckets>(table) / 2;
      const std::size_t used = std::min(all, bucket.of(n.extent() - 1) + 1);
      tensor<float, buckets, d_model> x = slice<buckets>(table, all - used, 2 * used);
      if (!distance_norm.empty()) { x = distance_norm.front()(x); }
      made.push_back({config.disentangled, x,
                      relative_ids<seq, key, buckets>(seq{n.extent()}, key{n.extent()}, buckets{2 * used}, bucket)});
    }
    return made;
  }
  void check_length(std::size_t count, std::size_t number) const {
    if (count == 0) {
      dimwise::detail::raise<extent_error>(error{} << "together: text " << number
                                                   << " has no tokens, and no vector of length 1");
    }
    if (count > longest()) {
      dimwise::detail::raise<extent_error>(error{} << "together: text " << number << " has " << count
                                                   << " tokens, the model takes " << longest());
    }
  }
  void expect(encoder_task needed, const char* operation) const {
    if (task != needed) {
      dimwise::detail::raise<extent_error>(error{} << operation << ": the encoder was read for " << name_of(task)
                                                   << "; pass " << name_of(needed) << " to read_encoder");
    }
  }
};

template <class Dims, class Weights>
typename encoder<Dims, Weights>::features_type encoder<Dims, Weights>::features(const batch_type& texts) const {
  check_lengths(texts);
  const packed_tokens tokens(texts.lengths.values());
  const seq n = extent_in<seq>(texts.ids);
  packed_type x = begun(texts, tokens);
  const double scale = scale_of_scores(config.score_scale, config.extents.of_head);
  encoder_pass<Dims> pass{tokens, angles(n, tokens), biases(n, 0), disentangled(n), scale};
  for (const encoder_layer_settings& layer : config.layers) {
    if (distances.size() > 1 && layer.block > 0) { pass.bias = biases(n, layer.block); }
    packed_type y = blocks[layer.block](x, pass, layer, config.norm_first);
    if (!convolution.empty() && &layer == config.layers.data()) { y = convolution.front()(x, y, tokens); }
    x = std::move(y);
  }
  if (!norm.empty()) { x = norm.front()(x); }
  return padded(x, texts);
}

template <class Dims, class Weights>
typename encoder<Dims, Weights>::scores_type encoder<Dims, Weights>::scores(const features_type& x,
                                                                            const tensor<int, batch>& lengths) const {
  expect(encoder_task::text_labels, "scores");
  detail::check_lengths("scores", lengths.values(), extent_of<batch>(x), extent_of<seq>(x));
  const features_type first = config.classifier.pools_mean
                                  ? features_type(broadcast<seq>(pooled(x, lengths, pooling_kind::mean), seq{1}))
                                  : features_type(slice<seq>(x, 0, 1));
  return at<seq>(classifier.front()(first), 0);
}

template <class Dims, class Weights>
typename encoder<Dims, Weights>::token_logits_type encoder<Dims, Weights>::logits(const features_type& x) const {
  expect(encoder_task::masked_tokens, "logits");
  return predictor.front()(token_embedding, x);
}

}  // namespace dimwise::models
