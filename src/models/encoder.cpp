// SPDX-License-Identifier: BSL-1.0
// src/models/encoder.cpp -- dimwise::models: encoders with weights of each format.
#include <dimwise/models/encoders.hpp>

namespace dimwise::models {

DIMWISE_DETAIL_ENCODER(template, float)
DIMWISE_DETAIL_ENCODER(template, bfloat16)
DIMWISE_DETAIL_ENCODER(template, float16)
DIMWISE_DETAIL_ENCODER(template, nn::int8_blocks)
DIMWISE_DETAIL_ENCODER(template, nn::int4_blocks)

}  // namespace dimwise::models
