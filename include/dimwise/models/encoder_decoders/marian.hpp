// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder_decoders/marian.hpp -- Marian (Junczys-Dowmunt et al. 2018), the translation models of
// OPUS-MT, as settings and array names.
//
// Layer: models. Sinusoidal positions, no norm after the embedding, and norms after the residuals.
// Tests: the conformance suite `encoder_decoders`, case marian
#pragma once

#include <dimwise/models/encoder_decoder/like_bart.hpp>

namespace dimwise::models::architectures {

/// MarianMTModel.
[[nodiscard]] inline encoder_decoder_description marian(io::config_check& c, const io::archive& weights) {
  encoder_decoder_description d = described_like_bart(c, weights,
                                                      {.keys = {{"vocab_size", 58101},
                                                                {"d_model", 1024},
                                                                {"encoder_attention_heads", 16},
                                                                {"encoder_ffn_dim", 4096},
                                                                {"encoder_layers", 12}},
                                                       .pad = 58100,
                                                       .start = 58100,
                                                       .end = 0});
  d.config.encoder.embedding_norm = false;
  set_sinusoids(c, sinusoid_kind::halves, d);
  return d;
}

}  // namespace dimwise::models::architectures
