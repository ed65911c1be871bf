// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder/empty.hpp -- an encoder of given settings, with empty parameters.
//
// Layer: models.
// Tests: tests/models/encoders/encoder.test.cpp
#pragma once

#include <dimwise/models/encoder/encoder.hpp>

#include <cstddef>

namespace dimwise::models::detail {

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
  m.distance_features.resize(c.disentangled.any() ? 1 : 0);
  if (c.disentangled.norm) { m.distance_norm.emplace_back(c.norm); }
  m.distances.resize(e.buckets == 0 || c.disentangled.any() ? 0 : (c.distances_of_blocks ? e.blocks : 1));
  for (std::size_t i = 0; i < e.blocks; ++i) {
    m.blocks.push_back(model::block_type::of(c, i > 0 || c.first_block_norm));
  }
  if (e.taps > 0) { m.convolution.push_back({{}, {}, c.convolution, any_norm<typename Dims::d_model>(c.norm)}); }
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

}  // namespace dimwise::models::detail
