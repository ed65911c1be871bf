// src/programs/generate_llama.cpp -- dimwise-generate: LLaMA with float weights.
// SPDX-License-Identifier: BSL-1.0
#include "generate_llama.hpp"

namespace programs {

template std::unique_ptr<text_model> read_llama<float>(const dimwise::io::config_check&, const dimwise::io::archive&);

}  // namespace programs
