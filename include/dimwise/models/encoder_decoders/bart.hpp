// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder_decoders/bart.hpp -- BART (Lewis et al. 2020) as settings and array names.
//
// Layer: models. Learned positions from row 2, a norm after the embedding, and norms after the residuals.
// Tests: the conformance suite `encoder_decoders`, case bart
#pragma once

#include <dimwise/models/encoder_decoder/like_bart.hpp>

namespace dimwise::models::architectures {

/// BartForConditionalGeneration. Older files force `bos_token_id` by a flag.
[[nodiscard]] inline encoder_decoder_description bart(io::config_check& c, const io::archive& weights) {
  encoder_decoder_description d = described_like_bart(c, weights,
                                                      {.keys = {{"vocab_size", 50265},
                                                                {"d_model", 1024},
                                                                {"encoder_attention_heads", 16},
                                                                {"encoder_ffn_dim", 4096},
                                                                {"encoder_layers", 12}}});
  set_learned_positions(d.config.encoder);
  if (!d.config.forced && c.flag("force_bos_token_to_be_generated", false)) {
    d.config.forced = token_setting(c, "bos_token_id", 0, d.config.encoder.extents.vocab);
  }
  return d;
}

}  // namespace dimwise::models::architectures
