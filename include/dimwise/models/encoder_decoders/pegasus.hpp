// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder_decoders/pegasus.hpp -- PEGASUS (Zhang et al. 2020) as settings and array names.
//
// Layer: models. Sinusoidal positions, norms before the branches and after the last layer.
// Tests: the conformance suite `encoder_decoders`, case pegasus
#pragma once

#include <dimwise/models/encoder_decoder/like_bart.hpp>

namespace dimwise::models::architectures {

/// PegasusForConditionalGeneration.
[[nodiscard]] inline encoder_decoder_description pegasus(io::config_check& c, const io::archive& weights) {
  encoder_decoder_description d = described_like_bart(c, weights,
                                                      {.keys = {{"vocab_size", 50265},
                                                                {"d_model", 1024},
                                                                {"encoder_attention_heads", 16},
                                                                {"encoder_ffn_dim", 4096},
                                                                {"encoder_layers", 12}},
                                                       .pad = 0,
                                                       .start = 0,
                                                       .end = 1});
  d.config.encoder.embedding_norm = false;
  d.config.encoder.norm_first = true;
  set_sinusoids(c, sinusoid_kind::halves, d);
  return d;
}

}  // namespace dimwise::models::architectures
