// src/programs/generate_llama_quantised.cpp -- dimwise-generate: LLaMA with low-precision weights.
// SPDX-License-Identifier: BSL-1.0
#include "generate_llama.hpp"

namespace programs {

template std::unique_ptr<text_model> read_llama<dimwise::bfloat16>(const dimwise::io::config_check&,
                                                                   const dimwise::io::archive&);
template std::unique_ptr<text_model> read_llama<dimwise::float16>(const dimwise::io::config_check&,
                                                                  const dimwise::io::archive&);
template std::unique_ptr<text_model> read_llama<dimwise::nn::int8_blocks>(const dimwise::io::config_check&,
                                                                          const dimwise::io::archive&);
template std::unique_ptr<text_model> read_llama<dimwise::nn::int4_blocks>(const dimwise::io::config_check&,
                                                                          const dimwise::io::archive&);

}  // namespace programs
