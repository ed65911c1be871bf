// SPDX-License-Identifier: BSL-1.0
// src/models/encoder_decoder.cpp -- dimwise::models: encoder-decoders with weights of float.
#include <dimwise/models/encoder_decoders.hpp>

namespace dimwise::models {

DIMWISE_DETAIL_ENCODER_DECODER(template, float)

}  // namespace dimwise::models
