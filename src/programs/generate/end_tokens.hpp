// src/programs/generate/end_tokens.hpp -- dimwise-generate: the tokens that end a text or an answer, from the files of
// a model.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/io/config.hpp>
#include <dimwise/models/generation_config.hpp>

#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace programs {

/// The ids that end a text, from the settings of config.json and generation_config.json. HuggingFace writes defaults
/// that small models lack: ids outside the vocabulary are reported on stderr. Throws `file_error` for anything but
/// whole numbers.
inline std::set<std::size_t> ends_of_text(std::initializer_list<const dimwise::io::config_check*> files,
                                          std::size_t words, bool quiet) {
  std::set<std::size_t> ends;
  for (const dimwise::io::config_check* const file : files) {
    const std::string key = file->title() + ": eos_token_id";
    for (const std::int64_t id : dimwise::models::token_ids(file->setting("eos_token_id"), key)) {
      if (id >= 0 && static_cast<std::size_t>(id) < words) {
        ends.insert(static_cast<std::size_t>(id));
      } else if (!quiet) {
        std::fprintf(stderr, "%s is %s, the model has %zu tokens: ignored\n", key.c_str(), std::to_string(id).c_str(),
                     words);
      }
    }
  }
  return ends;
}

/// The tokens that end an answer: the end-of-turn tokens of known chat templates, and the `eos_token` of
/// tokenizer_config.json.
inline std::vector<std::string> ends_of_turn(const std::filesystem::path& folder) {
  std::vector<std::string> names{"<|im_end|>", "<|eot_id|>",      "<|eom_id|>",
                                 "<|end|>",    "<|end_of_turn|>", "<end_of_turn>"};
  const auto path = folder / "tokenizer_config.json";
  if (!std::filesystem::exists(path)) { return names; }
  const dimwise::io::detail::held_json settings(dimwise::io::read_json(path));
  if (settings->is_object() && settings->contains("eos_token")) {
    const nlohmann::json& end = settings->at("eos_token");
    const nlohmann::json& text = end.is_object() && end.contains("content") ? end.at("content") : end;
    if (text.is_string()) { names.push_back(text.get<std::string>()); }
  }
  return names;
}

}  // namespace programs
