// src/programs/generate_gpt2.cpp -- dimwise-generate: folders of GPT-2, weights as floats.
// SPDX-License-Identifier: BSL-1.0
#include "generate_gpt2.hpp"

namespace programs {

template std::unique_ptr<text_model> read_gpt2<float>(const dimwise::io::config_check&, const dimwise::io::archive&);

}  // namespace programs
