// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder/read.hpp -- builds an encoder from the description of its family and the arrays of a file.
//
// Layer: models.
// Tests: tests/models/encoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/io/checkpoint.hpp>
#include <dimwise/models/encoder/bind.hpp>

namespace dimwise::models {

namespace detail {

// The model of these settings, whose parameters are empty.
template <class Dims, class Weights>
encoder<Dims, Weights> empty_encoder(const encoder_config& c, encoder_task task) {
  using model = encoder<Dims, Weights>;
  const encoder_extents& e = c.extents;
  model m;
  m.config = c;
  m.task = task;
  m.positions.resize(e.positions > 0 ? 1 : 0);
  m.segment_table.resize(e.segments > 0 ? 1 : 0);
  if (c.embedding_norm) { m.embedding_norm.emplace_back(c.norm); }
  m.projection.resize(c.projects ? 1 : 0);
  m.distances.resize(e.buckets > 0 ? 1 : 0);
  for (std::size_t i = 0; i < e.blocks; ++i) {
    m.blocks.push_back(model::block_type::of(c, i > 0 || c.first_block_norm));
  }
  if (c.norm_first) { m.norm.emplace_back(c.norm); }
  switch (task) {
    case encoder_task::features:
      break;
    case encoder_task::text_labels:
      m.classifier.push_back(label_head<Dims>::of(c.classifier));
      break;
    case encoder_task::token_labels:
      m.classifier.push_back(label_head<Dims>::of(c.token_classifier));
      break;
    case encoder_task::masked_tokens:
      m.predictor.push_back(token_head<Dims>::of(c.predictor, c.predictor_bias));
      break;
  }
  return m;
}

}  // namespace detail

/// Reads an encoder of this family. Throws `file_error` that lists every mismatch.
template <class Dims = encoder_dims, class Weights = float>
[[nodiscard]] encoder<Dims, Weights> read_encoder_as(const encoder_family& family, const io::config_check& settings,
                                                     const io::archive& weights,
                                                     encoder_task task = encoder_task::features) {
  io::config_check config = settings;
  const encoder_description described = family.read(config, weights);
  const encoder_config& c = described.config;
  const encoder_extents& e = c.extents;
  const auto vocab = config.implied<typename Dims::vocab>("vocab_size", e.vocab);
  const auto segments =
      config.implied<typename Dims::segments>("type_vocab_size", std::max<std::size_t>(e.segments, 1));
  const auto labels = config.implied<typename Dims::labels>("the number of labels", e.labels);
  const auto buckets =
      config.implied<typename Dims::buckets>("the number of buckets", std::max<std::size_t>(e.buckets, 1));
  const auto seq = config.implied<typename Dims::seq>("the number of positions", std::max<std::size_t>(e.positions, 1));
  const auto d_embed = config.implied<typename Dims::d_embed>("the size of the embedding", e.embedding);
  const auto d_model = config.implied<typename Dims::d_model>("the hidden size", e.features);
  const auto heads = config.implied<typename Dims::heads>("the number of heads", e.heads);
  const auto d_k = config.implied<typename Dims::d_k>("the size of a head", e.of_head);
  const auto d_v = config.implied<typename Dims::d_v>("the size of a head", e.of_head);
  const auto hidden = config.implied<typename Dims::hidden>("the intermediate size", e.hidden);
  if (!c.projects && e.embedding != e.features) {
    config.differs("the tokens have " + std::to_string(e.embedding) + " features and the layers " +
                   std::to_string(e.features) + ", and no map between them");
  }
  config.finish();

  auto m = detail::empty_encoder<Dims, Weights>(c, task);
  io::bindings file(vocab, segments, labels, buckets, seq, d_embed, d_model, heads, d_k, d_v, hidden);
  bind_encoder(file, described.names, m);
  io::load(m, weights, file, weights_rounding<Weights>);
  return m;
}

}  // namespace dimwise::models
