// SPDX-License-Identifier: BSL-1.0
// dimwise/models/sentence_settings.hpp -- the settings of a sentence-transformers folder: modules, pooling, prompts,
// and the maximum text length.
//
// Layer: models. `modules.json` lists the steps. An unsupported step is rejected by name, because omitting it would
// change the vectors.
// Tests: tests/models/sentence_settings.test.cpp, tests/programs/programs.py
//
//   const auto settings = models::read_sentence_settings("folder");
#pragma once

#include <dimwise/io/config.hpp>
#include <dimwise/io/files/json_tree.hpp>
#include <dimwise/models/pooling.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dimwise::models {

/// The settings of a sentence-transformers folder for texts and their vectors.
struct sentence_settings {
  using pooling = pooling_kind;
  pooling how = pooling::mean;               ///< the pooling of the token vectors (models/pooling.hpp)
  bool pools_prompt = true;                  ///< the tokens of a prompt are pooled with those of the text
  std::filesystem::path transformer{};       ///< the folder of the weights and the tokenizer
  std::optional<std::size_t> most_tokens{};  ///< longer texts are truncated; empty: no limit
  bool lower_case = false;                   ///< texts are lower-cased before the tokenizer's normalizer
  std::map<std::string, std::string> prompts{};
  std::optional<std::string> default_prompt{};  ///< the name of the prompt that every text begins with
};

/// The `model_max_length` of tokenizer_config.json: the number of tokens to which texts are truncated, if there is one.
[[nodiscard]] inline std::optional<std::size_t> read_length_limit(const std::filesystem::path& folder) {
  const auto path = folder / "tokenizer_config.json";
  if (!std::filesystem::exists(path)) { return std::nullopt; }
  io::config_check said(path);
  const double most = said.number("model_max_length", 1e30, io::number_range::above_zero);
  said.finish();
  if (most < 1e15) { return static_cast<std::size_t>(most); }  // 1e30 stands for no limit
  return std::nullopt;
}

namespace detail {

inline std::string quoted(const nlohmann::json& value) {
  return io::detail::printable(value.is_string() ? value.get<std::string>() : value.dump());
}

// The folders of Transformer and Pooling that modules.json lists.
struct sentence_modules {
  std::filesystem::path transformer{};
  std::filesystem::path pooling{};
};
inline sentence_modules read_modules(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& what) { throw io::file_error(path.string() + ": " + what); };
  const io::detail::held_json held(io::read_json(path));
  const nlohmann::json& modules = *held;
  if (!modules.is_array()) { refuse("a list of modules was expected"); }
  constexpr std::string_view library = "sentence_transformers.";
  constexpr std::string_view known[] = {"Transformer", "Pooling", "Normalize"};
  sentence_modules found;
  std::size_t count = 0;
  for (const auto& one : modules) {
    const auto text = [&](const char* key) {
      const bool said = one.is_object() && one.contains(key) && one.at(key).is_string();
      return said ? std::optional(one.at(key).template get<std::string>()) : std::nullopt;
    };
    const std::string type = text("type").value_or("");
    // The Python module changed between versions, but the class name did not.
    const std::string_view name = std::string_view(type).substr(type.rfind('.') + 1);
    if (!type.starts_with(library) || std::find(std::begin(known), std::end(known), name) == std::end(known)) {
      refuse("a module is " + io::detail::printable(type) + ", Transformer, Pooling or Normalize was expected");
    }
    // Normalize changes nothing: vectors already have length 1.
    if (name != known[std::min<std::size_t>(count, 2)]) {
      refuse("module " + std::to_string(count) + " is " + std::string(name) +
             ", the order Transformer, Pooling and, at most, Normalize was expected");
    }
    const auto said = text("path");
    if (!said) { refuse("the module " + type + " has no path"); }
    const std::filesystem::path below = *said;
    if (below.is_absolute() || std::find(below.begin(), below.end(), "..") != below.end()) {
      refuse("the path of the module " + type + " leads out of the folder: " + io::detail::printable(*said));
    }
    if (count < 2) { (count == 0 ? found.transformer : found.pooling) = path.parent_path().append(below.native()); }
    ++count;
  }
  if (count < 2) { refuse("Transformer and Pooling were expected, it lists " + std::to_string(count) + " modules"); }
  return found;
}

// The name of a pooling from version 5.4 on, and its earlier flag.
struct pooling_name {
  sentence_settings::pooling how;
  const char* mode;
  const char* flag;
};
inline constexpr pooling_name pooling_names[] = {
    {sentence_settings::pooling::first, "cls", "pooling_mode_cls_token"},
    {sentence_settings::pooling::max, "max", "pooling_mode_max_tokens"},
    {sentence_settings::pooling::mean, "mean", "pooling_mode_mean_tokens"},
    {sentence_settings::pooling::mean_sqrt, "mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens"},
    {sentence_settings::pooling::weighted_mean, "weightedmean", "pooling_mode_weightedmean_tokens"},
    {sentence_settings::pooling::last, "lasttoken", "pooling_mode_lasttoken"},
};

// `features` is the model's hidden_size.
inline void read_pooling(const std::filesystem::path& path, std::size_t features, sentence_settings& to) {
  const auto refuse = [&](const std::string& what) { throw io::file_error(path.string() + ": " + what); };
  io::config_check said(path);
  for (const char* key : {"embedding_dimension", "word_embedding_dimension"}) {  // the latter before version 5.4
    const std::size_t pooled = said.count(key, features);
    if (said.problems().empty() && pooled != features) {
      refuse(std::string(key) + " is " + std::to_string(pooled) + ", but hidden_size is " + std::to_string(features));
    }
  }
  to.pools_prompt = said.flag("include_prompt", true);
  std::vector<sentence_settings::pooling> modes;
  if (said.has("pooling_mode")) {  // from version 5.4 on, which ignores the flags
    said.finish();
    const nlohmann::json& mode = said.setting("pooling_mode");
    const auto take = [&](const nlohmann::json& one) {
      // Not `one == pooling.mode`, which terminates the program if memory runs out.
      const auto* const text = one.get_ptr<const std::string*>();
      const auto known = std::find_if(std::begin(pooling_names), std::end(pooling_names),
                                      [&](const auto& pooling) { return text != nullptr && *text == pooling.mode; });
      if (known == std::end(pooling_names)) {
        refuse("pooling_mode is " + quoted(one) + ", cls, max, mean, mean_sqrt_len_tokens, weightedmean or lasttoken " +
               "was expected");
      }
      modes.push_back(known->how);
    };
    if (mode.is_array()) {
      std::for_each(mode.begin(), mode.end(), take);
    } else {
      take(mode);
    }
  } else {
    for (const auto& one : pooling_names) {
      if (said.flag(one.flag, false)) { modes.push_back(one.how); }
    }
    said.finish();
  }
  if (modes.empty()) { refuse("pooling_mode, or one of the flags pooling_mode_…, was expected"); }
  if (modes.size() > 1) {
    refuse("it concatenates " + std::to_string(modes.size()) + " poolings, whose vectors have " +
           std::to_string(modes.size()) + " times hidden_size features: one pooling was expected");
  }
  to.how = modes.front();
}

// The text settings of sentence_bert_config.json; the name of the file depends on the model.
inline void read_text_settings(bool has_modules, sentence_settings& to) {
  for (const char* model : {"bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"}) {
    const auto path = to.transformer / (std::string("sentence_") + model + "_config.json");
    if (!std::filesystem::exists(path)) { continue; }
    io::config_check said(path);
    if (said.has("max_seq_length")) { to.most_tokens = said.count("max_seq_length"); }
    to.lower_case = said.flag("do_lower_case", false);
    said.expect_word("transformer_task", {"feature-extraction"}, "feature-extraction");
    said.expect_word("module_output_name", {"token_embeddings"}, "token_embeddings");
    if (!said.object("processing_kwargs").empty()) { said.differs("processing_kwargs is not supported"); }
    said.finish();
    break;
  }
  if (!to.most_tokens && has_modules) { to.most_tokens = read_length_limit(to.transformer); }
}
inline void read_prompts(const std::filesystem::path& path, sentence_settings& to) {
  if (!std::filesystem::exists(path)) { return; }
  io::config_check said(path);
  said.expect_word("model_type", {"SentenceTransformer"}, "SentenceTransformer");
  const io::detail::held_json held(said.object("prompts"));
  const nlohmann::json& prompts = *held;
  for (const auto& [name, prompt] : prompts.items()) {
    if (!prompt.is_string()) {
      said.differs("the prompt " + io::detail::printable(name) + " is " + quoted(prompt) + ", a text was expected");
      continue;
    }
    to.prompts[name] = prompt.get<std::string>();
  }
  if (said.has("default_prompt_name")) {
    to.default_prompt = said.word("default_prompt_name");
    if (said.problems().empty() && !to.prompts.contains(*to.default_prompt)) {
      said.differs("default_prompt_name is " + io::detail::printable(*to.default_prompt) +
                   ", which prompts does not have");
    }
  }
  said.finish();
}

}  // namespace detail

/// Reads `modules.json` and the files that it names. Without it, the pooling is that of `1_Pooling/config.json`, or the
/// mean. Throws `io::file_error` for a missing or unsupported module, pooling or setting.
[[nodiscard]] inline sentence_settings read_sentence_settings(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  sentence_settings settings;
  settings.transformer = folder;
  const bool has_modules = fs::exists(folder / "modules.json");
  fs::path pooling = folder / "1_Pooling";
  if (has_modules) {
    const auto modules = detail::read_modules(folder / "modules.json");
    settings.transformer = modules.transformer;
    pooling = modules.pooling;
    if (!fs::exists(pooling / "config.json")) {
      throw io::file_error((folder / "modules.json").string() + ": it lists the module Pooling, and " +
                           (pooling / "config.json").string() + " is missing");
    }
  }
  if (fs::exists(pooling / "config.json")) {
    io::config_check model(settings.transformer / "config.json");
    const char* key = "hidden_size";
    for (const char* other : {"dim", "n_embd"}) {  // DistilBERT, the original Nomic BERT
      if (!model.has(key) && model.has(other)) { key = other; }
    }
    const std::size_t features = model.count(key);
    model.finish();
    detail::read_pooling(pooling / "config.json", features, settings);
  }
  detail::read_text_settings(has_modules, settings);
  detail::read_prompts(folder / "config_sentence_transformers.json", settings);
  return settings;
}

}  // namespace dimwise::models
