// src/programs/generate/decoder_quantised.cpp -- dimwise-generate: decoders with weights of 8 or 4 bits.
// SPDX-License-Identifier: BSL-1.0
#include "decoder.hpp"

#include <memory>

namespace programs {

template std::unique_ptr<text_model> read_decoder<dimwise::nn::int8_blocks>(const dimwise::io::config_check&,
                                                                            const dimwise::io::archive&,
                                                                            const dimwise::ranks::communicator&);
template std::unique_ptr<text_model> read_decoder<dimwise::nn::int4_blocks>(const dimwise::io::config_check&,
                                                                            const dimwise::io::archive&,
                                                                            const dimwise::ranks::communicator&);

}  // namespace programs
