// SPDX-License-Identifier: BSL-1.0
// src/models/decoder.cpp -- dimwise::models: decoders with weights of float.
#include <dimwise/models/decoders.hpp>

namespace dimwise::models {

DIMWISE_DETAIL_DECODER(template, float)

}  // namespace dimwise::models
