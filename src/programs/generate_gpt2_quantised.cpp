// src/programs/generate_gpt2_quantised.cpp -- dimwise-generate: GPT-2 with low-precision weights.
// SPDX-License-Identifier: BSL-1.0
#include "generate_gpt2.hpp"

namespace programs {

template std::unique_ptr<text_model> read_gpt2<dimwise::bfloat16>(const dimwise::io::config_check&,
                                                                  const dimwise::io::archive&);
template std::unique_ptr<text_model> read_gpt2<dimwise::float16>(const dimwise::io::config_check&,
                                                                 const dimwise::io::archive&);
template std::unique_ptr<text_model> read_gpt2<dimwise::nn::int8_blocks>(const dimwise::io::config_check&,
                                                                         const dimwise::io::archive&);
template std::unique_ptr<text_model> read_gpt2<dimwise::nn::int4_blocks>(const dimwise::io::config_check&,
                                                                         const dimwise::io::archive&);

}  // namespace programs
