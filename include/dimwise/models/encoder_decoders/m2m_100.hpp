// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder_decoders/m2m_100.hpp -- M2M-100 (Fan et al. 2021) and NLLB-200 (NLLB Team 2022) as settings
// and array names.
//
// Layer: models. Sinusoidal positions from `pad_token_id` + 1, norms before the branches and after the last layer.
// Tests: the conformance suite `encoder_decoders`, case m2m_100
#pragma once

#include <dimwise/models/encoder_decoder/like_bart.hpp>

namespace dimwise::models::architectures {

/// M2M100ForConditionalGeneration. The embedding is scaled by default.
[[nodiscard]] inline encoder_decoder_description m2m_100(io::config_check& c, const io::archive& weights) {
  encoder_decoder_description d = described_like_bart(c, weights,
                                                      {.keys = {{"vocab_size", 128112},
                                                                {"d_model", 1024},
                                                                {"encoder_attention_heads", 16},
                                                                {"encoder_ffn_dim", 4096},
                                                                {"encoder_layers", 12}},
                                                       .activation = "relu",
                                                       .scaled = true});
  d.config.encoder.embedding_norm = false;
  d.config.encoder.norm_first = true;
  d.config.encoder.positions_skip_padding = true;
  set_sinusoids(c, sinusoid_kind::closed_halves, d);
  return d;
}

}  // namespace dimwise::models::architectures
