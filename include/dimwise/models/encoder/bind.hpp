// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder/bind.hpp -- binds the parameters of an encoder to the arrays that the names of its family
// give.
//
// Layer: models.
// Tests: the conformance suite `architectures`
#pragma once

#include <dimwise/io/bindings.hpp>
#include <dimwise/models/encoder/encoder.hpp>
#include <dimwise/models/encoder/names.hpp>

namespace dimwise::models {

namespace detail {

template <class Dims, class Weights>
void bind_block(const io::names_within& file, const encoder_names& n, encoder_block<Dims, Weights>& block) {
  using namespace io;
  auto& a = block.attention;
  if (n.query_key_value.empty()) {
    file.template linear<out_in>(n.query, a.query);
    file.template linear<out_in>(n.key, a.key);
    file.template linear<out_in>(n.value, a.value);
  } else {
    file.template fused<thirds, out_in>(n.query_key_value, a.query, a.key, a.value);
  }
  for (auto& one : a.distance_query) { file.template linear<out_in>(n.distance_query, one); }
  for (auto& one : a.distance_key) { file.template linear<out_in>(n.distance_key, one); }
  file.template linear<out_in>(n.output, a.output);
  for (auto& norm : block.norm1) { bind_norm(file, n.norm1, norm); }
  bind_feed_forward<equal_parts, out_in>(file, n.gate, n.up, n.gate_up, n.down, block.feed_forward, n.up_first);
  bind_norm(file, n.norm2, block.norm2);
  file.ignore("attn.rotary_emb.inv_freq");  // in old files
}

template <class Dims>
void bind_classifier(const io::bindings& file, const encoder_head_names& n, label_head<Dims>& to) {
  const io::names_within outside = file.without_prefix();
  for (auto& dense : to.dense) {
    (n.dense_in_model ? static_cast<const io::names_within&>(file) : outside)
        .template linear<io::out_in>(n.dense, dense);
  }
  for (auto& norm : to.norm) { bind_norm(outside, n.norm, norm); }
  outside.template linear<io::out_in>(n.output, to.output);
}
template <class Dims>
void bind_predictor(const io::bindings& file, const encoder_names& names, token_head<Dims>& to) {
  const encoder_head_names& n = names.predictor;
  const io::names_within outside = file.without_prefix();
  outside.template linear<io::out_in>(n.dense, to.dense);
  bind_norm(outside, n.norm, to.norm);
  for (auto& bias : to.bias) {
    // Files may store the bias twice.
    outside.template bind<io::stored<typename Dims::vocab>>(n.output_bias, bias, n.output + ".bias");
    outside.same(n.output + ".bias", n.output_bias);
  }
  outside.ignore(n.output + ".weight");  // tied to the token embedding
}

}  // namespace detail

/// Binds the parameters to the arrays of a file.
template <class Dims, class Weights>
void bind_encoder(io::bindings& file, const encoder_names& n, encoder<Dims, Weights>& m) {
  using namespace io;
  using d_embed = typename Dims::d_embed;
  if (!n.prefix.empty()) { file.may_begin_with(n.prefix); }
  file.template bind<stored<typename Dims::vocab, d_embed>>(n.tokens + ".weight", m.token_embedding.table);
  for (auto& one : m.positions) {
    file.template bind<stored<typename Dims::seq, d_embed>>(n.positions + ".weight", one.table);
  }
  for (auto& one : m.segment_table) {
    file.template bind<stored<typename Dims::segments, d_embed>>(n.segments + ".weight", one.table);
  }
  for (auto& one : m.embedding_norm) { bind_norm(file, n.embedding_norm, one); }
  for (auto& one : m.projection) { file.template linear<out_in>(n.projection, one); }
  for (std::size_t i = 0; i < m.distances.size(); ++i) {
    const std::string name = (m.config.distances_of_blocks ? n.blocks[i] : "") + n.buckets + ".weight";
    file.template bind<stored<typename Dims::buckets, typename Dims::heads>>(name, m.distances[i]);
  }
  for (auto& one : m.distance_features) {
    file.template bind<stored<typename Dims::buckets, typename Dims::d_model>>(n.distance_features + ".weight", one);
  }
  for (auto& one : m.distance_norm) { bind_norm(file, n.distance_norm, one); }
  for (std::size_t i = 0; i < m.blocks.size(); ++i) { detail::bind_block(file.in(n.blocks[i]), n, m.blocks[i]); }
  for (auto& one : m.convolution) {
    using d_model = typename Dims::d_model;
    file.template bind<stored<d_model, typename Dims::channels, typename Dims::taps>>(n.convolution + ".weight",
                                                                                      one.weight);
    file.template bind<stored<d_model>>(n.convolution + ".bias", one.bias);
    bind_norm(file, n.convolution_norm, one.norm);
  }
  for (auto& one : m.norm) { bind_norm(file, n.final_norm, one); }
  const bool of_tokens = m.task == encoder_task::token_labels;
  for (auto& one : m.classifier) { detail::bind_classifier(file, of_tokens ? n.token_classifier : n.classifier, one); }
  for (auto& one : m.predictor) { detail::bind_predictor(file, n, one); }
  for (const char* buffer : {"embeddings.position_ids", "embeddings.token_type_ids"}) { file.ignore(buffer); }
  for (const std::string& copy : n.same_as_tokens) { file.same(copy, n.tokens + ".weight"); }
  for (const std::string& beginning : n.unused) { file.ignore_all(beginning); }
}

}  // namespace dimwise::models
