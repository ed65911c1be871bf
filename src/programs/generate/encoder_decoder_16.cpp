// src/programs/generate/encoder_decoder_16.cpp -- dimwise-generate: encoder-decoders with weights of 16 bits.
// SPDX-License-Identifier: BSL-1.0
#include "encoder_decoder.hpp"

#include <memory>

namespace programs {

template std::unique_ptr<text_model> read_encoder_decoder<dimwise::bfloat16>(const dimwise::io::config_check&,
                                                                             const dimwise::io::archive&);
template std::unique_ptr<text_model> read_encoder_decoder<dimwise::float16>(const dimwise::io::config_check&,
                                                                            const dimwise::io::archive&);

}  // namespace programs
