// src/programs/generate_gpt2.cpp -- dimwise-generate: GPT-2 with float weights.
// SPDX-License-Identifier: BSL-1.0
#include "generate_gpt2.hpp"

namespace programs {

template std::unique_ptr<text_model> read_gpt2<float>(const dimwise::io::config_check&, const dimwise::io::archive&);

}  // namespace programs
