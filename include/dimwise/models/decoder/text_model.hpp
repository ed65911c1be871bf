// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/text_model.hpp -- reads the settings of the text model of a checkpoint that also has others.
//
// Layer: models. `text_config` has the settings of the text model.
// Tests: tests/models/decoders/with_images.test.cpp
#pragma once

#include <dimwise/models/decoder/decoder_plan.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::models {

namespace detail {

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

}  // namespace detail

/// The defaults of a class of text models for absent settings.
using text_defaults = std::vector<std::pair<const char*, nlohmann::json>>;

/// Reads the settings of the text model, whose type is one of `kinds`; old folders have them beside those of the other
/// models.
[[nodiscard]] inline decoder_plan read_text_model(io::config_check& c, decoder_plan (*read)(io::config_check&),
                                                  const std::vector<std::string_view>& kinds,
                                                  const text_defaults& defaults = {}) {
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
  detail::drop_sections(*settings);
  io::config_check text(std::move(settings).take(), within ? "text_config" : c.title());
  if (within) { text.expect_word_of(kinds, "model_type", std::string(kinds.front())); }
  decoder_plan plan = read(text);
  if (within) { read_direction(text, plan.config); }
  for (const std::string& problem : text.problems()) { c.differs(within ? "text_config: " + problem : problem); }
  return plan;
}

}  // namespace dimwise::models
