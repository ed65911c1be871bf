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

namespace detail {

// The file of a folder from which its tokenizer is read: the first that exists.
enum class tokenizer_file : unsigned char { tokenizer_json, gpt2, bert, sentencepiece, marian };
inline std::pair<tokenizer_file, std::filesystem::path> tokenizer_file_of(const std::filesystem::path& folder) {
  const auto place = [&](const char* name) { return std::filesystem::path(folder).append(name); };
  const auto has = [&](const char* name) { return std::filesystem::exists(place(name)); };
  if (has("tokenizer.json")) { return {tokenizer_file::tokenizer_json, place("tokenizer.json")}; }
  if (has("vocab.json") && has("merges.txt")) { return {tokenizer_file::gpt2, place("vocab.json")}; }
  if (has("vocab.txt")) { return {tokenizer_file::bert, place("vocab.txt")}; }
  std::string names;
  for (const char* name : sentencepiece_names) {
    if (has(name)) { return {tokenizer_file::sentencepiece, place(name)}; }
    names += std::string(", or ") + name;
  }
  if (has("source.spm") && has("vocab.json")) { return {tokenizer_file::marian, place("source.spm")}; }
  throw io::file_error(folder.string() + ": tokenizer.json, or vocab.json and merges.txt, or vocab.txt" + names +
                       ", or source.spm and vocab.json was expected");
}

template <dimension_type Vocab>
tokenizer<Vocab> tokenizer_of(tokenizer_file kind, const std::filesystem::path& path, bool lower_case) {
  const std::string title = path.string();
  const auto from_settings = [&](io::detail::held_json settings) {
    if (lower_case) { add_lower_case(*settings); }
    return tokenizer<Vocab>(*settings, title);
  };
  switch (kind) {
    case tokenizer_file::tokenizer_json:
      return from_settings(io::detail::held_json(io::read_json(path)));
    case tokenizer_file::gpt2:
      return from_settings(io::detail::held_json(gpt2_settings(path, path.parent_path().append("merges.txt"))));
    case tokenizer_file::bert:
      return from_settings(io::detail::held_json(bert_settings(path)));
    case tokenizer_file::sentencepiece:
    case tokenizer_file::marian: {
      const bool is_marian = kind == tokenizer_file::marian;
      sentencepiece_parts parts =
          read_sentencepiece(path, is_marian ? std::optional(sentencepiece_class::marian) : std::nullopt);
      if (lower_case) { add_lower_case(*parts.settings); }
      return tokenizer<Vocab>(parts, title);
    }
  }
  throw io::file_error(title + ": a tokenizer was expected");
}

}  // namespace detail

/// Reads `tokenizer.json`, or `vocab.json` and `merges.txt`, or `vocab.txt`, or a SentencePiece model:
/// `tokenizer.model`, `spiece.model`, `sentencepiece.bpe.model` or `spm.model`, or Marian's `source.spm` and
/// `vocab.json`. Throws `io::file_error` if its size does not match the model, or if its fingerprint differs from the
/// metadata of the weights or the file `tokenizer.fingerprint`. The token embedding may be padded: by at most one row
/// in 256, or to a multiple of 64 by less than 1024 rows or a sixteenth of its rows. Added tokens may have larger ids.
/// `lower_case` converts texts to lower case before the normalizer.
template <dimension_type Vocab>
[[nodiscard]] tokenizer<Vocab> read_tokenizer(const std::filesystem::path& folder, const Vocab& vocab,
                                              const std::map<std::string, std::string>& metadata = {},
                                              bool lower_case = false) {
  const auto [kind, path] = detail::tokenizer_file_of(folder);
  const std::string title = path.string();
  const tokenizer<Vocab> words = detail::tokenizer_of<Vocab>(kind, path, lower_case);
  const std::size_t rows = vocab.extent();
  // DeBERTa, OPT and NLLB have a few rows more than tokens, and no multiple of 64.
  const auto padded = [&](std::size_t ids) {
    return rows > ids &&
           (rows - ids <= rows / 256 || (rows % 64 == 0 && rows - ids < std::max<std::size_t>(1024, rows / 16)));
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
