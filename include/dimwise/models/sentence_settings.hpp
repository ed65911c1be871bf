// SPDX-License-Identifier: BSL-1.0
// dimwise/models/sentence_settings.hpp -- the settings of a sentence-transformers or Model2Vec folder: modules,
// pooling, prompts, similarity, and the maximum text length.
//
// Layer: models. `modules.json` lists the steps. An unsupported step is rejected by name, because omitting it would
// change the vectors.
// Tests: tests/models/encoders/sentence_settings.test.cpp, tests/programs/programs.py
//
//   const auto settings = models::read_sentence_settings("folder");
#pragma once

#include <dimwise/io/config.hpp>
#include <dimwise/io/files/json_tree.hpp>
#include <dimwise/io/shards.hpp>
#include <dimwise/models/pooling.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::models {

/// How two vectors are compared. Distances are negative: the most similar vectors have the largest value.
enum class similarity_kind : unsigned char { cosine, dot, euclidean, manhattan };

/// A module after the pooling or the static embedding: a Dense or Normalize.
struct sentence_module {
  bool normalizes = true;          ///< Normalize; otherwise a Dense
  std::filesystem::path folder{};  ///< of a Dense
};

/// The settings of a sentence-transformers or Model2Vec folder for texts and their vectors.
struct sentence_settings {
  using pooling = pooling_kind;
  pooling how = pooling::mean;                           ///< the pooling of the token vectors (models/pooling.hpp)
  bool pools_prompt = true;                              ///< the tokens of a prompt are pooled with those of the text
  bool has_modules = false;                              ///< the folder has a modules.json
  bool is_static = false;                                ///< a static embedding instead of a transformer and a pooling
  std::filesystem::path transformer{};                   ///< the folder of the weights and the tokenizer
  std::vector<sentence_module> modules{};                ///< in order
  similarity_kind similarity = similarity_kind::cosine;  ///< `similarity_fn_name`
  std::optional<std::size_t> dimensions{};               ///< vectors keep their first features: `truncate_dim`
  std::optional<std::size_t> most_tokens{};              ///< longer texts are truncated; empty: no limit
  bool lower_case = false;                               ///< texts are lower-cased before the tokenizer's normalizer
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

/// Rejects a decoder whose vectors come from code in its folder, unless `is_causal` says which tokens its attention
/// sees: such code often removes the causal mask.
inline void expect_known_direction(io::config_check settings) {
  const nlohmann::json& code = settings.setting("auto_map");
  if (code.is_object() && code.contains("AutoModel") && !settings.has("is_causal")) {
    settings.differs(
        "auto_map.AutoModel names code of the folder, which is not read; is_causal was expected beside it, "
        "which is false for bidirectional attention");
  }
  settings.finish();
}

namespace detail {

inline std::string quoted(const nlohmann::json& value) {
  return io::detail::printable(value.is_string() ? value.get<std::string>() : value.dump());
}

// Rejects a module that reads or writes token vectors.
inline void expect_sentence_vectors(io::config_check& config) {
  for (const char* key : {"module_input_name", "module_output_name"}) {
    config.expect_word(key, {"sentence_embedding"}, "sentence_embedding");
  }
}

// The folder of a module, below that of modules.json.
inline std::filesystem::path module_folder(const std::filesystem::path& file, const std::string& type,
                                           const std::optional<std::string>& said) {
  const auto refuse = [&](const std::string& what) { throw io::file_error(file.string() + ": " + what); };
  if (!said) { refuse("the module " + type + " has no path"); }
  const std::filesystem::path below = *said;
  if (below.is_absolute() || std::find(below.begin(), below.end(), "..") != below.end()) {
    refuse("the path of the module " + type + " leads out of the folder: " + io::detail::printable(*said));
  }
  return below == "." ? file.parent_path() : file.parent_path().append(below.native());
}

// Whether a folder has adapters. Its own Transformer (jina-embeddings-v3) differs from that of sentence-transformers in
// choosing one of them.
inline bool has_adapters(const std::filesystem::path& folder) {
  const auto path = folder / "config.json";
  return std::filesystem::exists(path) && io::config_check(path).has("lora_adaptations");
}

// Reads modules.json; returns the folder of the Pooling, if there is one.
inline std::filesystem::path read_modules(const std::filesystem::path& path, sentence_settings& to) {
  const auto refuse = [&](const std::string& what) { throw io::file_error(path.string() + ": " + what); };
  const io::detail::held_json held(io::read_json(path));
  const nlohmann::json& modules = *held;
  if (!modules.is_array()) { refuse("a list of modules was expected"); }
  constexpr std::string_view library = "sentence_transformers.";
  std::filesystem::path pooling;
  std::size_t count = 0;
  for (const auto& one : modules) {
    const auto text = [&](const char* key) {
      const bool said = one.is_object() && one.contains(key) && one.at(key).is_string();
      return said ? std::optional(one.at(key).template get<std::string>()) : std::nullopt;
    };
    const std::string type = text("type").value_or("");
    // The Python module changed between versions, but the class name did not.
    const std::string_view name = std::string_view(type).substr(type.rfind('.') + 1);
    const bool begins = name == "Transformer" || name == "StaticEmbedding";
    const bool follows = name == "Dense" || name == "Normalize";
    const bool is_known = type.starts_with(library) ||
                          (type == "custom_st.Transformer" && has_adapters(module_folder(path, type, text("path"))));
    if (!is_known || !(begins || follows || name == "Pooling")) {
      refuse("a module is " + io::detail::printable(type) +
             ", Transformer, Pooling, StaticEmbedding, Dense or Normalize was expected");
    }
    const bool pools = count == 1 && !to.is_static;
    if (begins != (count == 0) || (name == "Pooling") != pools) {
      refuse("module " + std::to_string(count) + " is " + std::string(name) +
             ", the order Transformer and Pooling, or StaticEmbedding, and then Dense and Normalize was expected");
    }
    const std::filesystem::path folder = module_folder(path, type, text("path"));
    if (begins) {
      to.is_static = name == "StaticEmbedding";
      to.transformer = folder;
    } else if (pools) {
      pooling = folder;
    } else {
      to.modules.push_back({name == "Normalize", folder});
      if (name == "Normalize" && std::filesystem::exists(folder / "config.json")) {
        io::config_check config(folder / "config.json");
        expect_sentence_vectors(config);
        config.finish();
      }
    }
    ++count;
  }
  if (count < (to.is_static ? 1 : 2)) {
    refuse("Transformer and Pooling, or StaticEmbedding, were expected, it lists " + std::to_string(count) +
           " modules");
  }
  return pooling;
}

// Whether a folder without modules.json is one of Model2Vec, whose older folders name no model_type.
inline bool is_model2vec(const std::filesystem::path& folder) {
  const auto path = folder / "config.json";
  if (!std::filesystem::exists(path)) { return false; }
  io::config_check config(path);
  if (config.has("model_type")) {
    // Not `== "model2vec"`, which terminates the program if memory runs out.
    const auto* const kind = config.setting("model_type").get_ptr<const std::string*>();
    return kind != nullptr && *kind == "model2vec";
  }
  if (!std::filesystem::exists(folder / "model.safetensors")) { return false; }
  const io::archive weights = io::read_checkpoint(folder);
  return weights.find("embeddings") != nullptr;
}
// Model2Vec divides by the length if config.json says so.
inline void read_normalize(sentence_settings& to) {
  const auto path = to.transformer / "config.json";
  if (!std::filesystem::exists(path)) { return; }
  io::config_check config(path);
  const bool normalizes = config.flag("normalize", false);
  config.finish();
  const bool listed = !to.modules.empty() && to.modules.front().normalizes;
  if (normalizes && !listed) { to.modules.insert(to.modules.begin(), sentence_module{}); }
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
inline void read_text_settings(sentence_settings& to) {
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
  if (!to.most_tokens && to.has_modules) { to.most_tokens = read_length_limit(to.transformer); }
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
  constexpr std::pair<const char*, similarity_kind> similarities[] = {{"cosine", similarity_kind::cosine},
                                                                      {"dot", similarity_kind::dot},
                                                                      {"euclidean", similarity_kind::euclidean},
                                                                      {"manhattan", similarity_kind::manhattan}};
  said.expect_word("similarity_fn_name", {"cosine", "dot", "euclidean", "manhattan"}, "cosine");
  if (said.has("truncate_dim")) { to.dimensions = said.count("truncate_dim"); }
  said.finish();
  const std::string name = said.word("similarity_fn_name", "cosine");
  for (const auto& [word, kind] : similarities) {
    if (name == word) { to.similarity = kind; }
  }
}

}  // namespace detail

/// Reads `modules.json` and the files that it names. Without it, a folder is one of Model2Vec, or it has a transformer,
/// the pooling of `1_Pooling/config.json` or the mean, and Normalize. Throws `io::file_error` for a missing or
/// unsupported module, pooling or setting.
[[nodiscard]] inline sentence_settings read_sentence_settings(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  sentence_settings settings;
  settings.transformer = folder;
  settings.has_modules = fs::exists(folder / "modules.json");
  fs::path pooling = folder / "1_Pooling";
  if (settings.has_modules) {
    pooling = detail::read_modules(folder / "modules.json", settings);
    if (!settings.is_static && !fs::exists(pooling / "config.json")) {
      throw io::file_error((folder / "modules.json").string() + ": it lists the module Pooling, and " +
                           (pooling / "config.json").string() + " is missing");
    }
  } else {
    settings.is_static = detail::is_model2vec(folder);
    if (!settings.is_static) { settings.modules.emplace_back(); }
  }
  if (settings.is_static) {
    detail::read_normalize(settings);
  } else {
    if (fs::exists(pooling / "config.json")) {
      io::config_check model(settings.transformer / "config.json");
      const char* key = "hidden_size";
      for (const char* other : {"dim", "n_embd", "d_model"}) {  // DistilBERT, the original Nomic BERT, T5
        if (!model.has(key) && model.has(other)) { key = other; }
      }
      const std::size_t features = model.count(key);
      model.finish();
      detail::read_pooling(pooling / "config.json", features, settings);
    }
    detail::read_text_settings(settings);
  }
  detail::read_prompts(folder / "config_sentence_transformers.json", settings);
  return settings;
}

}  // namespace dimwise::models
