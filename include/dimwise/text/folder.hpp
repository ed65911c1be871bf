// SPDX-License-Identifier: BSL-1.0
// dimwise/text/folder.hpp -- the tokenizer of a model's folder, checked against the model.
//
// Layer: text. Another model's vocabulary of the same size would load and decode to wrong text. A fingerprint, if the
// folder has one, detects it.
// Tests: tests/text/folder.test.cpp
//
//   const auto words = text::read_tokenizer<vocab>("folder", vocab{50257}, weights.metadata());
#pragma once

#include <dimwise/text/tokenizer.hpp>

#include <filesystem>
#include <fstream>
#include <map>

namespace dimwise::text {

/// The metadata key of a checkpoint for the fingerprint of its tokenizer.
inline constexpr const char* fingerprint_key = "tokenizer fingerprint";

/// Reads `tokenizer.json`, or `vocab.json` and `merges.txt`, or `vocab.txt`. Throws `io::file_error` if its size does
/// not match the model, or if its fingerprint differs from the metadata of the weights or the file
/// `tokenizer.fingerprint`. The token embedding may be padded to a multiple of 64, by less than 1024 rows or a
/// sixteenth of its rows, and added tokens may have larger ids. `lower_case` converts texts to lower case before the
/// normalizer.
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
    io::detail::held_json own;
    own->swap(settings["normalizer"]);
    auto& sequence = io::detail::make_object(settings["normalizer"]);
    sequence["type"] = "Sequence";
    auto& steps = io::detail::make_list(sequence["normalizers"]);
    io::detail::make_object(steps.emplace_back())["type"] = "Lowercase";
    if (!own->is_null()) { steps.emplace_back().swap(*own); }
  }
  const tokenizer<Vocab> words(settings, title);
  const std::size_t rows = vocab.extent();
  const auto padded = [&](std::size_t ids) {
    return rows > ids && rows % 64 == 0 && rows - ids < std::max<std::size_t>(1024, rows / 16);
  };
  // Added tokens may have ids beyond the token embedding: texts that contain one are rejected when they are encoded.
  const std::size_t own = words.vocabulary_size();
  const bool beyond = words.size() > rows && (own == rows || padded(own));
  if (words.size() != rows && !padded(words.size()) && !beyond) {
    throw io::file_error(title + ": the vocabulary has " + std::to_string(words.size()) + " ids, the model has " +
                         std::to_string(rows) + " tokens: it belongs to another model");
  }
  std::string expected;
  if (const auto said = metadata.find(fingerprint_key); said != metadata.end()) { expected = said->second; }
  if (std::ifstream file(folder / "tokenizer.fingerprint"); expected.empty() && file) { std::getline(file, expected); }
  if (!expected.empty() && expected != words.fingerprint()) {
    throw io::file_error(title + ": the vocabulary has the fingerprint " + words.fingerprint() +
                         ", the model expects " + io::detail::printable(expected) + ": it belongs to another model");
  }
  return words;
}

}  // namespace dimwise::text
