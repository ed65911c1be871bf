// SPDX-License-Identifier: BSL-1.0
// dimwise/text/tokenizer.hpp -- text to ids of a vocabulary and back, as a tokenizer.json says.
//
// Layer: text. The ids have the dimension of the vocabulary: they index the table of no other model. Anything that a
// file requires and that is not supported here is refused by name. Third party: nlohmann-json, utf8proc, PCRE2.
// Tests: tests/text/tokenizer.test.cpp, tests/compile_fail/text/
//
//   const auto words = tokenizer<vocab>::read("tokenizer.json");
//   std::vector<id<vocab>> ids = words.encode("Once upon a time");
//   std::string text = words.decode(ids);
#pragma once

#include <dimwise/expr/ids.hpp>
#include <dimwise/io/files/json_tree.hpp>
#include <dimwise/text/models/model_files.hpp>
#include <dimwise/text/pipeline.hpp>

#include <span>

namespace dimwise::text {

/// The tokenizer of a vocabulary.
template <dimension_type Vocab>
class tokenizer {
 public:
  /// Reads a `tokenizer.json`, or BERT's `vocab.txt` with the `tokenizer_config.json` beside it. Throws
  /// `io::file_error` for what is malformed or not supported.
  [[nodiscard]] static tokenizer read(const std::filesystem::path& path) {
    const io::detail::held_json settings(path.extension() == ".txt" ? detail::bert_settings(path)
                                                                    : io::read_json(path));
    return tokenizer(*settings, path.string());
  }
  /// Reads GPT-2's two files, `vocab.json` and `merges.txt`, and the `added_tokens.json` beside them, if there is one.
  [[nodiscard]] static tokenizer read(const std::filesystem::path& vocab, const std::filesystem::path& merges) {
    const io::detail::held_json settings(detail::gpt2_settings(vocab, merges));
    return tokenizer(*settings, vocab.string());
  }
  tokenizer(const nlohmann::json& settings, const std::string& title)
      : pipeline_(std::make_shared<const detail::pipeline>(settings, title)) {
    if (Vocab::static_extent != at_run_time && size() > Vocab::static_extent) {
      throw io::file_error(title + ": the vocabulary has " + std::to_string(size()) +
                           " ids, but the dimension has extent " + std::to_string(Vocab::static_extent));
    }
  }

  /// How many ids there are: one more than the largest.
  [[nodiscard]] std::size_t size() const { return pipeline_->size(); }
  /// The same without added tokens.
  [[nodiscard]] std::size_t vocabulary_size() const { return pipeline_->vocabulary_size(); }
  /// How many ids the file puts before a text.
  [[nodiscard]] std::size_t prefix_size() const { return pipeline_->before(); }
  /// The ids of a text, with those that the file puts around it; without them where `bare` is said. Bytes that are no
  /// UTF-8 become U+FFFD.
  [[nodiscard]] std::vector<id<Vocab>> encode(std::string_view text) const {
    return typed(pipeline_->encode(text, true));
  }
  /// To `encode`: without what the file puts around a text.
  struct bare {};
  [[nodiscard]] std::vector<id<Vocab>> encode(std::string_view text, bare) const {
    return typed(pipeline_->encode(text, false));
  }
  /// To `encode`: how many ids at most, those that the file puts around a text included.
  struct at_most {
    std::size_t ids;
  };
  /// The first ids of a text, with those that the file puts around it. Throws `extent_error` where
  /// these alone are more.
  [[nodiscard]] std::vector<id<Vocab>> encode(std::string_view text, at_most most) const {
    if (most.ids < pipeline_->around()) {
      dimwise::detail::raise<extent_error>(error{} << "encode: at most " << most.ids << " ids were asked for, and "
                                                   << pipeline_->around() << " are put around every text");
    }
    return typed(pipeline_->encode(text, true, most.ids));
  }
  /// The ids of one text or two, with one entry of each list for each id.
  struct encoding {
    std::vector<id<Vocab>> ids;
    std::vector<std::uint32_t> types;         ///< which text, or what the file says
    std::vector<unsigned char> given;         ///< 0 for padding: the attention mask
    std::vector<unsigned char> special;       ///< 1 for what the file puts around texts, and for padding
    std::vector<std::vector<id<Vocab>>> cut;  ///< the ids of the parts that were cut off
  };
  /// A text as the file says: truncated, with what it puts around, padded. Throws `io::file_error` where the file's
  /// truncation cannot be done.
  [[nodiscard]] encoding stored_encoding(std::string_view text) const { return stored_encodings({{text}}).front(); }
  /// Two texts, one after another as the file says.
  [[nodiscard]] encoding stored_encoding(std::string_view first, std::string_view second) const {
    return stored_encodings({{first, second}}).front();
  }
  /// A batch of texts, each alone or a pair; a file that pads to the longest one pads all to the same size.
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
    for (detail::encoding& one : all) {
      made.push_back({typed(one.tokens), std::move(one.types), std::move(one.given), std::move(one.special), {}});
      for (const detail::encoding& part : one.overflowing) { made.back().cut.push_back(typed(part.tokens)); }
    }
    return made;
  }
  /// To `decode`: special tokens are part of the text.
  struct with_special {};
  [[nodiscard]] std::string decode(std::span<const id<Vocab>> ids, with_special) const {
    return pipeline_->decode(checked(ids), false);
  }
  /// The text of ids, without special ones. Throws `index_error` for an id that is beyond the vocabulary.
  [[nodiscard]] std::string decode(std::span<const id<Vocab>> ids) const { return pipeline_->decode(checked(ids)); }
  /// Whether an id has a token: not every id below `size()` need have one.
  [[nodiscard]] bool has(id<Vocab> i) const { return pipeline_->has(i.value); }
  /// The id of a token, of the vocabulary or added to it; nothing where there is none.
  [[nodiscard]] std::optional<id<Vocab>> find(const std::string& word) const {
    const auto found = pipeline_->find(word);
    return found ? std::optional(id<Vocab>{*found}) : std::nullopt;
  }
  /// Sixteen digits that follow from all words and their ids. They distinguish vocabularies of one size (FNV-1a of each
  /// word's bytes and a zero, in the order of the ids).
  [[nodiscard]] std::string fingerprint() const { return pipeline_->fingerprint(); }

 private:
  [[nodiscard]] std::vector<std::uint32_t> checked(std::span<const id<Vocab>> ids) const {
    std::vector<std::uint32_t> all;
    for (const id<Vocab> i : ids) {
      if (i.value >= size()) {
        dimwise::detail::raise<index_error>(error{} << "decode: id " << i.value << " is outside dimension "
                                                    << dimwise::detail::dimension_name<Vocab>() << ", whose words are "
                                                    << size());
      }
      all.push_back(static_cast<std::uint32_t>(i.value));
    }
    return all;
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
