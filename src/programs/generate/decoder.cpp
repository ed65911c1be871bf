// src/programs/generate/decoder.cpp -- dimwise-generate: decoders with weights of each format.
// SPDX-License-Identifier: BSL-1.0
#include "decoder.hpp"

#include <memory>

namespace programs {

template std::unique_ptr<text_model> read_decoder<float>(const dimwise::io::config_check&, const dimwise::io::archive&,
                                                         const dimwise::ranks::communicator&);
template std::unique_ptr<text_model> read_decoder<dimwise::bfloat16>(const dimwise::io::config_check&,
                                                                     const dimwise::io::archive&,
                                                                     const dimwise::ranks::communicator&);
template std::unique_ptr<text_model> read_decoder<dimwise::float16>(const dimwise::io::config_check&,
                                                                    const dimwise::io::archive&,
                                                                    const dimwise::ranks::communicator&);
template std::unique_ptr<text_model> read_decoder<dimwise::nn::int8_blocks>(const dimwise::io::config_check&,
                                                                            const dimwise::io::archive&,
                                                                            const dimwise::ranks::communicator&);
template std::unique_ptr<text_model> read_decoder<dimwise::nn::int4_blocks>(const dimwise::io::config_check&,
                                                                            const dimwise::io::archive&,
                                                                            const dimwise::ranks::communicator&);

std::string architecture_of(dimwise::io::config_check settings) {
  const dimwise::models::decoder_plan plan = dimwise::models::plan_decoder(settings);
  const auto refuse = [&](const std::string& why) {
    throw dimwise::io::file_error(settings.title() + ": " + why + ", so it writes no text; dimwise-embed reads it");
  };
  if (plan.config.bidirectional) { refuse("the attention of the model is bidirectional"); }
  if (!plan.config.has_output) { refuse("the model is of a class without an output"); }
  const std::string kind = settings.word("model_type");
  for (const auto& one : dimwise::models::known_decoders()) {
    if (one.model_type == kind) { return one.title; }
  }
  return kind;
}

}  // namespace programs
