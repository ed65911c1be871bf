// tests/compile_fail/nn/nn_prelude.hpp -- modules over the dimensions of prelude.hpp, declared only.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../prelude.hpp"

namespace demo {

struct there : prime<src> {};  // the encoder's positions, attended to
struct latent : feature_dim<EXTENT(6)> {};
struct rot : feature_dim<EXTENT(4)> {};

using heads_attention = nn::multi_head_attention<d_model, heads, d_k, d_v>;
using own_attention = nn::self_attention<seq, key, heads_attention>;
using memory_attention = nn::cross_attention<seq, src, heads_attention>;
using two_layers = nn::feed_forward<d_model, d_ff>;
using feature_norm = nn::layer_norm<d_model>;
using decoder_block = nn::decoder_layer<own_attention, memory_attention, two_layers, feature_norm>;
using encoder_block = nn::encoder_layer<nn::self_attention<src, there, heads_attention>, two_layers, feature_norm>;

extern const nn::linear<nn::from<d_model>, nn::to<heads, d_k>> to_keys;
extern const nn::linear<nn::from<heads, d_v>, nn::to<d_model>> to_output;
extern const heads_attention many_heads;
extern const nn::multi_head_attention<d_model, nn::grouped_heads<kv_heads, group_of>, d_k, d_v> grouped;
extern const nn::multi_head_attention<d_model, heads, d_k, d_v, nn::rotated_heads> rotating;
extern const nn::multi_head_attention<d_model, heads, d_k, d_v, nn::bias_kv> with_learned_key;
extern const own_attention attends_itself;
extern const memory_attention attends_memory;
extern const two_layers feeds_forward;
extern const feature_norm norms;
extern const nn::rms_norm<d_k> head_norm;
extern const encoder_block encodes;
extern const decoder_block decodes;
extern const nn::stack<encoder_block> encoder;
extern const nn::encoder_decoder<nn::stack<encoder_block>, nn::stack<decoder_block>> translates;
extern const nn::embedding<vocab, d_model> words;
extern const nn::learned_positions<seq, d_model> places;
extern const nn::transformer<vocab, src, d_model, nn::stack<encoder_block>> language_model;
extern const nn::latent_attention<d_model, heads, d_k, rot, d_v, latent> latent_heads;

struct mixed : prime<heads> {};
struct value_heads : prime<heads> {};
struct slots : position_dim<EXTENT(6)> {};
extern const nn::talking_heads_attention<d_model, heads, mixed, value_heads, d_k, d_v> talking;
extern const nn::slot_attention<src, slots, d_model, d_ff, d_k, d_v, latent> competing;
extern const nn::gru_cell<d_v, d_ff> recurrent;
extern tensor<float, batch, slots, d_ff> slot_states;
extern tensor<float, batch, slots, d_v> updates;

extern tensor<id<vocab>, batch, src> sentence;
extern tensor<bool, batch, src> is_padding;
extern tensor<int, batch> lengths;

}  // namespace demo

using namespace demo;
