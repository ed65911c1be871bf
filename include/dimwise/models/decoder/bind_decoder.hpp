// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/bind_decoder.hpp -- binds the parameters of a decoder to the arrays that `decoder_names`
// names.
//
// Layer: models.
// Tests: tests/models/decoders/decoder.test.cpp, the conformance suite `architectures`
#pragma once

#include <dimwise/models/decoder/decoder.hpp>
#include <dimwise/models/decoder/decoder_plan.hpp>

namespace dimwise::models {

namespace detail {

template <class F, class... H>
void bind_head_norm(const io::names_within& file, const std::string& name, head_norm<F, H...>& to, bool less_one) {
  to.split();
  for (std::size_t i = 0; i < to.shared.size(); ++i) {
    const bool several = to.kind == head_norm_kind::own_arrays;
    bind_norm(file, several ? name + ".norms." + std::to_string(i) : name, to.shared[i], less_one);
  }
  for (auto& norm : to.own) {
    for (auto& g : norm.gamma) { file.bind<io::stored<io::together<H...>, F>>(name + ".weight", g); }
    for (auto& b : norm.beta) { file.bind<io::stored<io::together<H...>, F>>(name + ".bias", b); }
  }
  for (auto& scale : to.whole) { file.bind<io::stored<io::together<H..., F>>>(name + ".weight", scale); }
}

template <class Convention, class Attention>
void bind_projections(const io::names_within& file, const decoder_names& names, Attention& to) {
  switch (names.order) {
    case qkv_order::separate:
      file.linear<Convention>(names.query, to.query);
      file.linear<Convention>(names.key, to.key);
      file.linear<Convention>(names.value, to.value);
      return;
    case qkv_order::stacked:
      file.fused<io::stacked, Convention>(names.qkv, to.query, to.key, to.value);
      return;
    case qkv_order::by_groups:
      file.fused<io::by_groups, Convention>(names.qkv, to.query, to.key, to.value);
      return;
  }
}
template <class Convention, class Latent>
void bind_latent(const io::names_within& file, const decoder_names& names, Latent& to) {
  for (auto& map : to.query) { file.linear<Convention>(names.query, map); }
  for (auto& map : to.query_down) { file.linear<Convention>(names.query_down, map); }
  for (auto& norm : to.query_norm) { bind_norm(file, names.query_latent_norm, norm, names.less_one); }
  for (auto& map : to.query_up) { file.linear<Convention>(names.query_up, map); }
  file.fused<io::stacked, Convention>(names.compress, to.compress, to.rotated);
  bind_norm(file, names.latent_norm, to.norm, names.less_one);
  file.fused<io::by_groups, Convention>(names.expand, to.key, to.value);
}
template <class Experts>
void bind_correction(const io::names_within& file, const std::string& name, tensor<float, Experts>& to) {
  file.bind<io::stored<Experts>>(name, to);
}
template <class... H>
void bind_sinks(const io::names_within& file, const std::string& name, tensor<float, H...>& to) {
  file.bind<io::stored<io::together<H...>>>(name, to);
}
template <class Convention, class Expert>
void bind_expert(const io::names_within& file, const decoder_names& names, Expert& to) {
  names.expert_interleaved ? bind_feed_forward<io::by_groups, Convention>(file, names.expert_gate, names.expert_up,
                                                                          names.expert_gate_up, names.expert_down, to)
                           : bind_feed_forward<io::stacked, Convention>(file, names.expert_gate, names.expert_up,
                                                                        names.expert_gate_up, names.expert_down, to);
}
template <class Convention, class Block>
void bind_block(const io::names_within& file, const decoder_names& names, Block& to) {
  bind_norm(file, names.norm1, to.norm1, names.less_one);
  for (auto& maps : to.attention.mapped) { bind_projections<Convention>(file, names, maps); }
  for (auto& maps : to.attention.latent) { bind_latent<Convention>(file, names, maps); }
  bind_head_norm(file, names.query_norm, to.attention.query_norm, names.less_one);
  bind_head_norm(file, names.key_norm, to.attention.key_norm, names.less_one);
  file.linear<Convention>(names.attention, to.attention.output);
  for (auto& sinks : to.attention.sinks) { bind_sinks(file, names.sinks, sinks); }
  bind_norm(file, names.output_norm1, to.output_norm1, names.less_one);
  bind_norm(file, names.norm2, to.norm2, names.less_one);
  for (auto& feed : to.feed_forward) {
    bind_feed_forward<io::stacked, Convention>(file, names.gate, names.up, names.gate_up, names.down, feed);
  }
  for (auto& mixture : to.mixture) {
    file.linear<Convention>(names.router, mixture.router);
    for (auto& correction : mixture.correction) { bind_correction(file, names.correction, correction); }
    for (std::size_t i = 0; i < mixture.experts.size(); ++i) {
      const auto expert = file.in(names.experts + std::to_string(i) + ".");
      names.expert_in_out ? bind_expert<io::in_out>(expert, names, mixture.experts[i])
                          : bind_expert<io::out_in>(expert, names, mixture.experts[i]);
    }
    for (auto& shared : mixture.shared) {
      bind_feed_forward<io::stacked, Convention>(file.in(names.shared_expert), names.expert_gate, names.expert_up, "",
                                                 names.expert_down, shared);
    }
    for (auto& gate : mixture.gate) { file.linear<Convention>(names.shared_gate, gate); }
  }
  bind_norm(file, names.output_norm2, to.output_norm2, names.less_one);
  for (const std::string& name : names.ignored) { file.ignore(name); }
}

}  // namespace detail

/// Binds the parameters of a decoder, or of a run of its layers, to the arrays of a file.
template <class Dims, class Weights>
void bind_decoder(io::bindings& file, const decoder_names& names, decoder<Dims, Weights>& m) {
  using namespace io;
  using d_embedding = typename Dims::d_embedding;
  using vocab_here = part_of_dims<Dims, typename Dims::vocab>;
  file.may_begin_with(names.prefix);
  for (const std::string& prefix : names.other_prefixes) { file.may_begin_with(prefix); }
  for (const std::string& part : names.other_parts) { file.ignore_all(part); }
  if (m.has_tokens()) {
    file.bind<stored<typename Dims::vocab, part_of_dims<Dims, d_embedding>>>(names.tokens + ".weight",
                                                                             m.token_embedding.table);
  }
  for (auto& project : m.project) { file.linear<out_in>(names.project_in, project); }
  for (auto& table : m.positions) {
    file.bind<stored<typename Dims::rows, typename Dims::d_model>>(names.positions + ".weight", table);
  }
  bind_norm(file, names.embedding_norm, m.embedding_norm, names.less_one);
  for (std::size_t i = 0; i < m.blocks.size(); ++i) {
    const auto layer = file.in(names.layer + std::to_string(m.here.begin + i) + ".");
    names.in_out ? detail::bind_block<in_out>(layer, names, m.blocks[i])
                 : detail::bind_block<out_in>(layer, names, m.blocks[i]);
  }
  bind_norm(file, names.norm, m.norm, names.less_one);
  for (auto& project : m.output.project) { file.linear<out_in>(names.project_out, project); }
  const std::string& other_output = names.other_output.empty() ? names.output : names.other_output;
  for (auto& map : m.output.map) {
    if (m.config.tied) {  // a rank's tokens of the table, of which the embedding has other elements
      file.bind<stored<vocab_here, d_embedding>>(names.tokens + ".weight", map.weight);
    } else {
      file.without_prefix().template bind<stored<vocab_here, d_embedding>>(names.output + ".weight", map.weight,
                                                                           other_output + ".weight");
    }
  }
  for (auto& bias : m.output.bias) {
    file.without_prefix().template bind<stored<typename Dims::vocab>>(names.output + ".bias", bias);
  }
  if (!m.here.is_last() || (!m.output.map.empty() && !m.config.tied)) { return; }
  for (const std::string& output : {names.output, other_output}) {
    m.config.has_output ? file.same(output + ".weight", names.tokens + ".weight") : file.ignore(output + ".weight");
  }
}

}  // namespace dimwise::models
