// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder_decoders/mbart.hpp -- mBART (Liu et al. 2020) and mBART-50 as settings and array names.
//
// Layer: models. Learned positions from row 2, a norm after the embedding, norms before the branches and
// after the last layer.
// Tests: the conformance suite `encoder_decoders`, case mbart
#pragma once

#include <dimwise/models/encoder_decoder/like_bart.hpp>

namespace dimwise::models::architectures {

/// MBartForConditionalGeneration. Without `decoder_start_token_id`, texts begin with `bos_token_id`.
[[nodiscard]] inline encoder_decoder_description mbart(io::config_check& c, const io::archive& weights) {
  encoder_decoder_description d = described_like_bart(c, weights,
                                                      {.keys = {{"vocab_size", 50265},
                                                                {"d_model", 1024},
                                                                {"encoder_attention_heads", 16},
                                                                {"encoder_ffn_dim", 4096},
                                                                {"encoder_layers", 12}},
                                                       .start = whole_number(c, "bos_token_id", 0)});
  set_learned_positions(d.config.encoder);
  d.config.encoder.norm_first = true;
  return d;
}

}  // namespace dimwise::models::architectures
