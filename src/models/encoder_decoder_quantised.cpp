// SPDX-License-Identifier: BSL-1.0
// src/models/encoder_decoder_quantised.cpp -- dimwise::models: encoder-decoders with weights of 8 or 4 bits.
#include <dimwise/models/encoder_decoders.hpp>

namespace dimwise::models {

DIMWISE_DETAIL_ENCODER_DECODER(template, nn::int8_blocks)
DIMWISE_DETAIL_ENCODER_DECODER(template, nn::int4_blocks)

}  // namespace dimwise::models
