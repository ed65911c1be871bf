// src/programs/generate/decoder_16.cpp -- dimwise-generate: decoders with weights of 16 bits.
// SPDX-License-Identifier: BSL-1.0
#include "decoder.hpp"

#include <memory>

namespace programs {

template std::unique_ptr<text_model> read_decoder<dimwise::bfloat16>(const dimwise::io::config_check&,
                                                                     const dimwise::io::archive&,
                                                                     const dimwise::ranks::communicator&);
template std::unique_ptr<text_model> read_decoder<dimwise::float16>(const dimwise::io::config_check&,
                                                                    const dimwise::io::archive&,
                                                                    const dimwise::ranks::communicator&);

}  // namespace programs
