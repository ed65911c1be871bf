// SPDX-License-Identifier: BSL-1.0
// src/models/decoder_quantised.cpp -- dimwise::models: decoders with weights of 8 or 4 bits.
#include <dimwise/models/decoders.hpp>

namespace dimwise::models {

DIMWISE_DETAIL_DECODER(template, nn::int8_blocks)
DIMWISE_DETAIL_DECODER(template, nn::int4_blocks)

}  // namespace dimwise::models
