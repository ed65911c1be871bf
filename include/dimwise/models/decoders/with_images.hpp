// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoders/with_images.hpp -- the text models of checkpoints that also read images.
//
// Layer: models. The settings are in `text_config`; the arrays of images are not read.
// Tests: tests/models/decoders/with_images.test.cpp
#pragma once

#include <dimwise/models/decoders/gemma.hpp>
#include <dimwise/models/decoders/llama.hpp>
#include <dimwise/models/decoders/mistral.hpp>
#include <dimwise/models/decoders/qwen.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::models::architectures {

namespace detail {

// The defaults of a class of text models for absent settings.
using text_defaults = std::vector<std::pair<const char*, nlohmann::json>>;

// A text has the same position in time, height and width, so that mrope turns it as rotary positions without sections
// do (Wang et al. 2024, Qwen2-VL).
inline void drop_sections(nlohmann::json& text) {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const auto scaling = text.find(key);
    if (scaling == text.end() || !scaling->is_object()) { continue; }
    scaling->erase("mrope_section");
    scaling->erase("mrope_interleaved");
    for (const char* type : {"type", "rope_type"}) {
      if (const auto said = scaling->find(type); said != scaling->end() && *said == "mrope") { *said = "default"; }
    }
  }
}
// Reads the settings of the text model, whose type is one of `kinds`; old folders have them beside those of images.
inline decoder_plan text_plan(io::config_check& c, decoder_plan (*read)(io::config_check&),
                              const std::vector<std::string_view>& kinds, const text_defaults& defaults) {
  const bool within = c.has("text_config");
  io::detail::held_json settings(within ? c.object("text_config") : c.all());
  for (const auto& [key, value] : defaults) {
    if (!settings->contains(key)) { (*settings)[key] = value; }
  }
  if (!settings->contains("tie_word_embeddings") && c.has("tie_word_embeddings")) {
    (*settings)["tie_word_embeddings"] = c.setting("tie_word_embeddings");
  }
  // `plan_decoder` reads the direction beside `text_config`; either one makes windows wider once.
  if (within && !c.flag("is_causal", true)) { settings->erase("is_causal"); }
  drop_sections(*settings);
  io::config_check text(std::move(settings).take(), within ? "text_config" : c.title());
  if (within) { text.expect_word_of(kinds, "model_type", std::string(kinds.front())); }
  decoder_plan plan = read(text);
  if (within) { read_direction(text, plan.config); }
  for (const std::string& problem : text.problems()) { c.differs(within ? "text_config: " + problem : problem); }
  return plan;
}
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
  decoder_plan plan =
      text_plan(c, qwen2, kinds,
                {{"num_key_value_heads", 8U}, {"rms_norm_eps", 1e-5}, {"rope_theta", 1e6}, {"max_window_layers", 80U}});
  name_qwen_vl(plan.names);
  return plan;
}

}  // namespace detail

/// Gemma3ForConditionalGeneration.
[[nodiscard]] inline decoder_plan gemma3(io::config_check& c) {
  decoder_plan plan = detail::text_plan(c, gemma3_text, {"gemma3_text"},
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
  decoder_plan plan = detail::text_plan(c, mistral, {"mistral"}, {});
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
  decoder_plan plan = detail::text_plan(c, qwen3, {"qwen3_vl_text"}, {{"rope_theta", 5e5}});
  detail::name_qwen_vl(plan.names);
  return plan;
}
/// Idefics3ForConditionalGeneration, SmolVLMForConditionalGeneration.
[[nodiscard]] inline decoder_plan idefics3(io::config_check& c) {
  decoder_plan plan = detail::text_plan(c, llama, {"llama"}, {});
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
