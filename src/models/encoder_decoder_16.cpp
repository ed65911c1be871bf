// SPDX-License-Identifier: BSL-1.0
// src/models/encoder_decoder_16.cpp -- dimwise::models: encoder-decoders with weights of 16 bits.
#include <dimwise/models/encoder_decoders.hpp>

namespace dimwise::models {

DIMWISE_DETAIL_ENCODER_DECODER(template, bfloat16)
DIMWISE_DETAIL_ENCODER_DECODER(template, float16)

}  // namespace dimwise::models
