// SPDX-License-Identifier: BSL-1.0
// dimwise/text/tokenizer.hpp -- the tokenizer of a tokenizer.json or a SentencePiece model: text to ids of a
// vocabulary, and back.
//
// Layer: text. The ids have the dimension of the vocabulary, so they do not index another model's embedding.
// Unsupported settings of a file are rejected by name. Third party: nlohmann-json, utf8proc, PCRE2.
// Tests: tests/text/tokenizer.test.cpp, tests/compile_fail/text/
//
//   const auto words = tokenizer<vocab>::read("tokenizer.json");
//   std::vector<id<vocab>> ids = words.encode("Once upon a time");
//   std::string text = words.decode(ids);
#pragma once

#include <dimwise/expr/rearrange/ids.hpp>
#include <dimwise/io/files/json_tree.hpp>
#include <dimwise/text/models/model_files.hpp>
#include <dimwise/text/pipeline.hpp>

#include <memory>
#include <span>

namespace dimwise::text {

/// The tokenizer of a vocabulary.
template <dimension_type Vocab>
class tokenizer {
 public:
  /// Reads a `tokenizer.json`, BERT's `vocab.txt` or SentencePiece's `tokenizer.model`, the last two with the
  /// `tokenizer_config.json` beside it. Throws `io::file_error` for malformed or unsupported files.
  [[nodiscard]] static tokenizer read(const std::filesystem::path& path) {
    if (path.extension() == ".model") { return tokenizer(detail::read_sentencepiece(path), path.string()); }
    const io::detail::held_json settings(path.extension() == ".txt" ? detail::bert_settings(path)
                                                                    : io::read_json(path));
    return tokenizer(*settings, path.string());
  }
  /// Reads GPT-2's two files, `vocab.json` and `merges.txt`, and the `added_tokens.json` beside them, if there is one.
  [[nodiscard]] static tokenizer read(const std::filesystem::path& vocab, const std::filesystem::path& merges) {
    const io::detail::held_json settings(detail::gpt2_settings(vocab, merges));
    return tokenizer(*settings, vocab.string());
  }
  /// Reads a SentencePiece model from memory. Texts are encoded as SentencePiece does it, without special tokens around
  /// them. Throws `io::file_error` for malformed or unsupported models.
  [[nodiscard]] static tokenizer parse_sentencepiece(std::span<const std::byte> bytes, const std::string& title) {
    return tokenizer(detail::parse_sentencepiece({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, title),
                     title);
  }
  tokenizer(const nlohmann::json& settings, const std::string& title)
      : tokenizer(std::make_shared<const detail::pipeline>(settings, title), title) {}
  tokenizer(const detail::sentencepiece_parts& model, const std::string& title)
      : tokenizer(std::make_shared<const detail::pipeline>(model, title), title) {}

  /// The number of ids: the largest id plus one.
  [[nodiscard]] std::size_t size() const { return pipeline_->size(); }
  /// The number of ids without added tokens.
  [[nodiscard]] std::size_t vocabulary_size() const { return pipeline_->vocabulary_size(); }
  /// The number of special tokens before a text.
  [[nodiscard]] std::size_t prefix_size() const { return pipeline_->before(); }
  /// The ids of a text with the special tokens of the post-processor; without them if `bare` is given. Invalid UTF-8
  /// becomes U+FFFD.
  [[nodiscard]] std::vector<id<Vocab>> encode(std::string_view text) const {
    return typed(pipeline_->encode(text, true));
  }
  /// An argument of `encode` and `stored_encoding`: no special tokens.
  struct bare {};
  [[nodiscard]] std::vector<id<Vocab>> encode(std::string_view text, bare) const {
    return typed(pipeline_->encode(text, false));
  }
  /// An argument of `encode`: the maximum number of ids, including special tokens.
  struct at_most {
    std::size_t ids;
  };
  /// The ids of a text, truncated, with its special tokens. Throws `extent_error` if these alone exceed the maximum.
  [[nodiscard]] std::vector<id<Vocab>> encode(std::string_view text, at_most most) const {
    if (most.ids < pipeline_->around()) {
      dimwise::detail::raise<extent_error>(error{} << "encode: at most " << most.ids
                                                   << " ids were requested, but every text has " << pipeline_->around()
                                                   << " special tokens");
    }
    return typed(pipeline_->encode(text, true, most.ids));
  }
  /// The ids of one or two texts. The lists have one entry per id.
  struct encoding {
    std::vector<id<Vocab>> ids;
    std::vector<std::uint32_t> types;         ///< the index of the text, or the values of the file
    std::vector<unsigned char> given;         ///< 0 for padding: the attention mask
    std::vector<unsigned char> special;       ///< 1 for special tokens and padding
    std::vector<std::vector<id<Vocab>>> cut;  ///< the ids of the truncated parts
  };
  /// Encodes a text by the settings of the file: truncated, with special tokens, padded. Throws `io::file_error` if the
  /// text cannot be truncated as the file requires.
  [[nodiscard]] encoding stored_encoding(std::string_view text) const { return stored_encodings({{text}}).front(); }
  /// Encodes a text by the truncation of the file, without padding.
  [[nodiscard]] encoding stored_encoding(std::string_view text, bare) const {
    return typed(pipeline_->encoded_texts({text}, false));
  }
  /// Encodes a pair of texts by the settings of the file.
  [[nodiscard]] encoding stored_encoding(std::string_view first, std::string_view second) const {
    return stored_encodings({{first, second}}).front();
  }
  /// Encodes a pair of texts with its special tokens: at most `most.ids`, the longer text is truncated first. Ignores
  /// the truncation and the padding of the file. Throws `io::file_error` if the file has no template for pairs, or if
  /// the special tokens alone exceed the maximum.
  [[nodiscard]] encoding encode(std::string_view first, std::string_view second, at_most most) const {
    detail::encoding one = pipeline_->encoded_pair(first, second, most.ids);
    return {typed(one.tokens), std::move(one.types), std::move(one.given), std::move(one.special), {}};
  }
  /// Encodes a batch of texts or pairs; with padding to the longest one, all have the same length.
  [[nodiscard]] std::vector<encoding> stored_encodings(const std::vector<std::vector<std::string_view>>& batch) const {
    std::vector<detail::encoding> all;
    for (const auto& texts : batch) {
      if (texts.empty() || texts.size() > 2) {
        dimwise::detail::raise<extent_error>(error{} << "stored_encodings: an entry has " << texts.size()
                                                     << " texts, one or two were expected");
      }
      all.push_back(pipeline_->encoded_texts(texts, true));
    }
    pipeline_->pad(all);
    std::vector<encoding> made;
    for (detail::encoding& one : all) { made.push_back(typed(std::move(one))); }
    return made;
  }
  /// An argument of `decode`: special tokens are part of the text.
  struct with_special {};
  [[nodiscard]] std::string decode(std::span<const id<Vocab>> ids, with_special) const {
    return pipeline_->decode(checked(ids), false);
  }
  /// The text of ids, without special tokens. Throws `index_error` for ids outside the vocabulary.
  [[nodiscard]] std::string decode(std::span<const id<Vocab>> ids) const { return pipeline_->decode(checked(ids)); }
  /// Whether an id has a token; ids below `size()` may have none.
  [[nodiscard]] bool has(id<Vocab> i) const { return pipeline_->has(i.value); }
  /// The id of a token of the vocabulary or of an added token; `nullopt` for unknown tokens.
  [[nodiscard]] std::optional<id<Vocab>> find(const std::string& word) const {
    const auto found = pipeline_->find(word);
    return found ? std::optional(id<Vocab>{*found}) : std::nullopt;
  }
  /// The token of an id as the vocabulary writes it; empty for ids without a token.
  [[nodiscard]] std::string_view token(id<Vocab> i) const {
    const std::string* const word = pipeline_->word(i.value);
    return word == nullptr ? std::string_view() : std::string_view(*word);
  }
  /// The id that BPE, WordPiece and WordLevel give to unknown tokens; `nullopt` without one, and for Unigram.
  [[nodiscard]] std::optional<id<Vocab>> unknown() const {
    const auto found = pipeline_->unknown();
    return found ? std::optional(id<Vocab>{*found}) : std::nullopt;
  }
  /// Sixteen hexadecimal digits that identify a vocabulary: FNV-1a of the bytes of each token and a zero, in
  /// the order of ids.
  [[nodiscard]] std::string fingerprint() const { return pipeline_->fingerprint(); }

 private:
  tokenizer(std::shared_ptr<const detail::pipeline> made, const std::string& title) : pipeline_(std::move(made)) {
    if (Vocab::static_extent != at_run_time && size() > Vocab::static_extent) {
      throw io::file_error(title + ": the vocabulary has " + std::to_string(size()) +
                           " ids, but the dimension has extent " + std::to_string(Vocab::static_extent));
    }
  }
  [[nodiscard]] std::vector<std::uint32_t> checked(std::span<const id<Vocab>> ids) const {
    std::vector<std::uint32_t> all;
    for (const id<Vocab> i : ids) {
      if (i.value >= size()) {
        dimwise::detail::raise<index_error>(error{} << "decode: id " << i.value << " is outside dimension "
                                                    << dimwise::detail::dimension_name<Vocab>() << ", whose ids are "
                                                    << size());
      }
      all.push_back(static_cast<std::uint32_t>(i.value));
    }
    return all;
  }
  static encoding typed(detail::encoding one) {
    encoding made{typed(one.tokens), std::move(one.types), std::move(one.given), std::move(one.special), {}};
    for (const detail::encoding& part : one.overflowing) { made.cut.push_back(typed(part.tokens)); }
    return made;
  }
  static std::vector<id<Vocab>> typed(const std::vector<std::uint32_t>& ids) {
    std::vector<id<Vocab>> all;
    all.reserve(ids.size());
    for (const std::uint32_t i : ids) { all.emplace_back(i); }
    return all;
  }
  std::shared_ptr<const detail::pipeline> pipeline_;
};

}  // namespace dimwise::text
