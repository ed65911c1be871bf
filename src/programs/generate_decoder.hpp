// src/programs/generate_decoder.hpp -- dimwise-generate: decoders of any architecture as a text_model.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "generate.hpp"
#include <dimwise/models/decoders.hpp>

namespace programs {

template <class Weights>
std::unique_ptr<text_model> read_decoder(const dimwise::io::config_check& settings,
                                         const dimwise::io::archive& weights) {
  using namespace dimwise::models;
  return as_text_model(dimwise::models::read_decoder<decoder_dims, Weights>(settings, weights));
}

}  // namespace programs
