// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder_decoder/bind.hpp -- binds the parameters of an encoder-decoder to the arrays that
// `encoder_decoder_names` names.
//
// Layer: models.
// Tests: the conformance suite `architectures`
#pragma once

#include <dimwise/models/encoder/bind.hpp>
#include <dimwise/models/encoder_decoder/encoder_decoder.hpp>

namespace dimwise::models {

namespace detail {

template <class Dims, class Weights>
void bind_attention(const io::names_within& file, const attention_names& n, target_attention<Dims, Weights>& to) {
  using namespace io;
  file.template linear<out_in>(n.query, to.query);
  file.template linear<out_in>(n.key, to.key);
  file.template linear<out_in>(n.value, to.value);
  file.template linear<out_in>(n.output, to.output);
}

}  // namespace detail

/// Binds the parameters to the arrays of a file.
template <class Dims, class Weights>
void bind_encoder_decoder(io::bindings& file, const encoder_decoder_names& n, encoder_decoder<Dims, Weights>& m) {
  using namespace io;
  bind_encoder(file, n.encoder, m.encoder);
  for (auto& one : m.positions) {
    file.template bind<stored<typename Dims::seq, typename Dims::d_embed>>(n.positions + ".weight", one.table);
  }
  for (auto& one : m.embedding_norm) { bind_norm(file, n.embedding_norm, one); }
  for (std::size_t i = 0; i < m.distances.size(); ++i) {
    const std::string name = (m.config.encoder.distances_of_blocks ? n.blocks[i] : "") + n.buckets + ".weight";
    file.template bind<stored<typename Dims::buckets, typename Dims::heads>>(name, m.distances[i]);
  }
  for (std::size_t i = 0; i < m.blocks.size(); ++i) {
    const auto in_block = file.in(n.blocks[i]);
    auto& block = m.blocks[i];
    bind_norm(in_block, n.norm1, block.norm1);
    detail::bind_attention(in_block, n.self, block.self);
    bind_norm(in_block, n.norm2, block.norm2);
    detail::bind_attention(in_block, n.cross, block.cross);
    bind_norm(in_block, n.norm3, block.norm3);
    bind_feed_forward<stacked, out_in>(in_block, n.gate, n.up, "", n.down, block.feed_forward);
  }
  bind_norm(file, n.norm, m.norm);
  const names_within outside = file.without_prefix();
  for (auto& map : m.output) {
    outside.template bind<stored<typename Dims::vocab, typename Dims::d_embed>>(n.output + ".weight", map.weight);
  }
  for (auto& one : m.logit_bias) {
    outside.template bind<stored<typename Dims::one, typename Dims::vocab>>(n.logit_bias, one);
  }
  if (m.output.empty()) { file.same(n.output + ".weight", n.encoder.tokens + ".weight"); }
  for (const std::string& name : n.ignored) { file.ignore(name); }
}

}  // namespace dimwise::models
