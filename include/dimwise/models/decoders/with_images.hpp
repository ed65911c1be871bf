// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/with_images.hpp -- the text models of checkpoints that also read images.
//
// Layer: models. The settings are in `text_config`; the arrays of images are not read.
// Tests: tests/models/decoders/with_images.test.cpp
#pragma once

#include <dimwise/models/decoder/text_model.hpp>
#include <dimwise/models/decoders/gemma.hpp>
#include <dimwise/models/decoders/llama.hpp>
#include <dimwise/models/decoders/mistral.hpp>
#include <dimwise/models/decoders/qwen.hpp>

#include <string_view>
#include <vector>

namespace dimwise::models::architectures {

namespace detail {

// The names of versions before and after 4.52 of transformers.
inline void name_text_model(decoder_names& names) {
  names.prefix = "language_model.model.";
  names.other_prefixes = {"model.language_model."};
  names.other_output = "language_model.lm_head";
  names.other_parts = {"vision_tower.", "multi_modal_projector.", "model.vision_tower.",
                       "model.multi_modal_projector."};
}
inline void name_qwen_vl(decoder_names& names) {
  names.other_prefixes = {"model.language_model."};
  names.other_parts = {"visual.", "model.visual."};
}
inline decoder_plan qwen2_vl_plan(io::config_check& c, const std::vector<std::string_view>& kinds) {
  decoder_plan plan = read_text_model(
      c, qwen2, kinds,
      {{"num_key_value_heads", 8U}, {"rms_norm_eps", 1e-5}, {"rope_theta", 1e6}, {"max_window_layers", 80U}});
  name_qwen_vl(plan.names);
  return plan;
}

}  // namespace detail

/// Gemma3ForConditionalGeneration.
[[nodiscard]] inline decoder_plan gemma3(io::config_check& c) {
  decoder_plan plan = read_text_model(c, gemma3_text, {"gemma3_text"},
                                      {{"vocab_size", 262208U},
                                       {"hidden_size", 2304U},
                                       {"intermediate_size", 9216U},
                                       {"num_hidden_layers", 26U},
                                       {"num_attention_heads", 8U},
                                       {"max_position_embeddings", 131072U}});
  detail::name_text_model(plan.names);
  return plan;
}
/// Mistral3ForConditionalGeneration.
[[nodiscard]] inline decoder_plan mistral3(io::config_check& c) {
  decoder_plan plan = read_text_model(c, mistral, {"mistral"});
  detail::name_text_model(plan.names);
  return plan;
}
/// Qwen2VLForConditionalGeneration.
[[nodiscard]] inline decoder_plan qwen2_vl(io::config_check& c) {
  return detail::qwen2_vl_plan(c, {"qwen2_vl_text", "qwen2_vl"});
}
/// Qwen2_5_VLForConditionalGeneration.
[[nodiscard]] inline decoder_plan qwen2_5_vl(io::config_check& c) {
  return detail::qwen2_vl_plan(c, {"qwen2_5_vl_text", "qwen2_5_vl"});
}
/// Qwen3VLForConditionalGeneration.
[[nodiscard]] inline decoder_plan qwen3_vl(io::config_check& c) {
  decoder_plan plan =
      read_text_model(c, qwen3, {"qwen3_vl_text"}, {{"rope_theta", 5e5}, {"max_position_embeddings", 128000U}});
  detail::name_qwen_vl(plan.names);
  return plan;
}
/// Idefics3ForConditionalGeneration, SmolVLMForConditionalGeneration.
[[nodiscard]] inline decoder_plan idefics3(io::config_check& c) {
  decoder_plan plan = read_text_model(c, llama, {"llama"});
  plan.names.prefix = "model.text_model.";
  plan.names.other_parts = {"model.vision_model.", "model.connector."};
  return plan;
}

/// The entries of `known_decoders`.
inline decoder_architectures images_list() {
  return {
      {"gemma3", gemma3, "Gemma 3 with images, its text model", ""},
      {"idefics3", idefics3, "Idefics 3, its text model", "text models other than LLaMA"},
      {"mistral3", mistral3, "Mistral Small 3 with images, its text model", "text models other than Mistral"},
      {"qwen2_5_vl", qwen2_5_vl, "Qwen 2.5 with images, its text model", ""},
      {"qwen2_vl", qwen2_vl, "Qwen 2 with images, its text model", ""},
      {"qwen3_vl", qwen3_vl, "Qwen 3 with images, its text model", ""},
      {"smolvlm", idefics3, "SmolVLM, its text model", "text models other than LLaMA"},
  };
}

}  // namespace dimwise::models::architectures
