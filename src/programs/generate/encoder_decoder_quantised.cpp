// src/programs/generate/encoder_decoder_quantised.cpp -- dimwise-generate: encoder-decoders with weights of 8 or
// 4 bits.
// SPDX-License-Identifier: BSL-1.0
#include "encoder_decoder.hpp"

#include <memory>

namespace programs {

template std::unique_ptr<text_model> read_encoder_decoder<dimwise::nn::int8_blocks>(const dimwise::io::config_check&,
                                                                                    const dimwise::io::archive&);
template std::unique_ptr<text_model> read_encoder_decoder<dimwise::nn::int4_blocks>(const dimwise::io::config_check&,
                                                                                    const dimwise::io::archive&);

}  // namespace programs
