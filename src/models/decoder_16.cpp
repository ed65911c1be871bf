// SPDX-License-Identifier: BSL-1.0
// src/models/decoder_16.cpp -- dimwise::models: decoders with weights of 16 bits.
#include <dimwise/models/decoders.hpp>

namespace dimwise::models {

DIMWISE_DETAIL_DECODER(template, bfloat16)
DIMWISE_DETAIL_DECODER(template, float16)

}  // namespace dimwise::models
