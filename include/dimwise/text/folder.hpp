// SPDX-License-Identifier: BSL-1.0
// dimwise/text/folder.hpp -- the tokenizer of a model's folder, refused where it is another model's.
//
// Layer: text. Vocabularies of one size fit every table, and the wrong one gives wrong words. A fingerprint
// distinguishes them, where the folder has one.
// Tests: tests/text/folder.test.cpp
//
//   const auto words = text::read_tokenizer<vocab>("folder", vocab{50257}, weights.metadata());
#pragma once

#include <dimwise/text/tokenizer.hpp>

#include <filesystem>
#include <fstream>
#include <map>

namespace dimwise::text {

/// The key under which a checkpoint's metadata has the fingerprint of its tokenizer.
inline constexpr const char* fingerprint_key = "tokenizer fingerprint";

/// Reads `tokenizer.json`, or `vocab.json` and `merges.txt`, or `vocab.txt`. Throws `io::file_error` where its size is
/// not the model's, or its fingerprint not the one in the metadata of the weights or in the file
/// `tokenizer.fingerprint`. The table may be padded to a multiple of 64, by less than 1024 rows or a sixteenth of them,
/// and added tokens may lie beyond it. `lower_case` lower-cases texts before the normalizer.
template <dimension_type Vocab>
[[nodiscard]] tokenizer<Vocab> read_tokenizer(const std::filesystem::path& folder, const Vocab& vocab,
                                              const std::map<std::string, std::string>& metadata = {},
                                              bool lower_case = false) {
  namespace fs = std::filesystem;
  const bool is_one = fs::exists(folder / "tokenizer.json");
  const bool is_pair = !is_one && fs::exists(folder / "vocab.json") && fs::exists(folder / "merges.txt");
  const bool is_bert = !is_one && !is_pair && fs::exists(folder / "vocab.txt");
  if (!is_one && !is_pair && !is_bert) {
    throw io::file_error(folder.string() + ": tokenizer.json, or vocab.json and merges.txt, or vocab.txt was expected");
  }
  const fs::path path = folder / (is_one ? "tokenizer.json" : is_pair ? "vocab.json" : "vocab.txt");
  const std::string title = path.string();
  io::detail::held_json held(is_one    ? io::read_json(path)
                             : is_pair ? detail::gpt2_settings(path, folder / "merges.txt")
                                       : detail::bert_settings(path));
  nlohmann::json& settings = *held;
  if (lower_case && settings.is_object()) {
    nlohmann::json steps = nlohmann::json::array();
    steps.emplace_back(nlohmann::json::object())["type"] = "Lowercase";
    if (settings.contains("normalizer") && !settings.at("normalizer").is_null()) {
      steps.push_back(settings.at("normalizer"));
    }
    nlohmann::json sequence = nlohmann::json::object();
    sequence["type"] = "Sequence";
    sequence["normalizers"] = steps;
    settings["normalizer"] = sequence;
  }
  const tokenizer<Vocab> words(settings, title);
  const std::size_t rows = vocab.extent();
  const auto padded = [&](std::size_t ids) {
    return rows > ids && rows % 64 == 0 && rows - ids < std::max<std::size_t>(1024, rows / 16);
  };
  // Added tokens may lie beyond a table that has the vocabulary: a text with one of them is rejected when it is read.
  const std::size_t own = words.vocabulary_size();
  const bool beyond = words.size() > rows && (own == rows || padded(own));
  if (words.size() != rows && !padded(words.size()) && !beyond) {
    throw io::file_error(title + ": the vocabulary has " + std::to_string(words.size()) + " ids, the model has " +
                         std::to_string(rows) + " words: it is not this model's");
  }
  std::string expected;
  if (const auto said = metadata.find(fingerprint_key); said != metadata.end()) { expected = said->second; }
  if (std::ifstream file(folder / "tokenizer.fingerprint"); expected.empty() && file) { std::getline(file, expected); }
  if (!expected.empty() && expected != words.fingerprint()) {
    throw io::file_error(title + ": the vocabulary has the fingerprint " + words.fingerprint() +
                         ", the model was made with " + io::detail::printable(expected) + ": it is not this model's");
  }
  return words;
}

}  // namespace dimwise::text
