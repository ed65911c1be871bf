// src/programs/generate/encoder_decoder.cpp -- dimwise-generate: encoder-decoders with weights of each format.
// SPDX-License-Identifier: BSL-1.0
#include "encoder_decoder.hpp"

#include <memory>

namespace programs {

template std::unique_ptr<text_model> read_encoder_decoder<float>(const dimwise::io::config_check&,
                                                                 const dimwise::io::archive&);
template std::unique_ptr<text_model> read_encoder_decoder<dimwise::bfloat16>(const dimwise::io::config_check&,
                                                                             const dimwise::io::archive&);
template std::unique_ptr<text_model> read_encoder_decoder<dimwise::float16>(const dimwise::io::config_check&,
                                                                            const dimwise::io::archive&);
template std::unique_ptr<text_model> read_encoder_decoder<dimwise::nn::int8_blocks>(const dimwise::io::config_check&,
                                                                                    const dimwise::io::archive&);
template std::unique_ptr<text_model> read_encoder_decoder<dimwise::nn::int4_blocks>(const dimwise::io::config_check&,
                                                                                    const dimwise::io::archive&);

std::optional<std::string> encoder_decoder_of(dimwise::io::config_check settings) {
  const std::string kind = settings.word("model_type", "");
  for (const auto& one : dimwise::models::known_encoder_decoders()) {
    if (one.model_type == kind) { return one.title; }
  }
  return std::nullopt;
}

}  // namespace programs
