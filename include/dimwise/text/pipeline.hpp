// SPDX-License-Identifier: BSL-1.0
// dimwise/text/pipeline.hpp -- the components of a tokenizer in order: added tokens, normalizer, pre-tokenizer, model,
// post-processor; from a tokenizer.json or a SentencePiece model.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp, tests/text/components.test.cpp
#pragma once

#include <dimwise/text/components/added_tokens.hpp>
#include <dimwise/text/components/decoders.hpp>
#include <dimwise/text/components/normalizers.hpp>
#include <dimwise/text/components/post_processor.hpp>
#include <dimwise/text/components/splitters.hpp>
#include <dimwise/text/encoding.hpp>
#include <dimwise/text/models/bpe.hpp>
#include <dimwise/text/models/unigram.hpp>
#include <dimwise/text/models/vocabulary.hpp>
#include <dimwise/text/models/wordlevel.hpp>
#include <dimwise/text/models/wordpiece.hpp>
#include <dimwise/text/sentencepiece/bpe.hpp>
#include <dimwise/text/sentencepiece/normalizer.hpp>
#include <dimwise/text/sentencepiece/settings.hpp>

#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace dimwise::text::detail {

/// All components of a tokenizer, in the order in which they are applied.
class pipeline {
 public:
  pipeline(const json& from, const std::string& title) : title_(title) {
    const reader r(title);
    read_model(r, r.at(from, "model", "the tokenizer"));
    if (from.contains("version") && from.at("version") != "1.0") { r.refuse("the version is not 1.0"); }
    if (from.contains("normalizer")) { add_normalizer(r, from.at("normalizer"), changes_); }
    check_steps(r, "normalizer", changes_.size());
    add_words(r, from);
    if (from.contains("pre_tokenizer")) { add_splitter(r, from.at("pre_tokenizer"), cuts_); }
    check_steps(r, "pre_tokenizer", cuts_.size());
    if (from.contains("post_processor")) { around_ = post_processor(r, from.at("post_processor"), words_); }
    if (from.contains("decoder") && !from.at("decoder").is_null()) {
      add_decoder(r, from.at("decoder"), steps_);
      between_.clear();
      check_steps(r, "decoder", steps_.size());
    }
    if (from.contains("truncation") && !from.at("truncation").is_null()) {
      truncation_.emplace(r, from.at("truncation"));
    }
    if (from.contains("padding") && !from.at("padding").is_null()) { padding_.emplace(r, from.at("padding")); }
  }
  pipeline(const sentencepiece_parts& from, const std::string& title) : title_(title) {
    const reader r(title);
    const sentencepiece_file& file = from.file;
    const auto user_defined = user_defined_pieces(file);
    if (from.vocabulary->is_object()) {
      words_.read(reader(from.vocabulary_title), *from.vocabulary);
      tokens_ = unigram_model<marian_scores>(r, file, words_, words_.find(marian_unknown));
    } else {
      add_pieces(r, file, user_defined);
    }
    vocabulary_size_ = words_.size();
    const json& settings = *from.settings;
    if (settings.contains("normalizer")) { add_normalizer(r, settings.at("normalizer"), changes_); }
    cuts_.push_back(sentencepiece_cut(sentencepiece_normalizer(r, file, user_defined), from.always_adds_prefix));
    add_words(r, settings);
    if (settings.contains("post_processor")) { around_ = post_processor(r, settings.at("post_processor"), words_); }
    steps_.push_back(sentencepiece_decoder(file));
    between_.clear();
  }
  pipeline(const pipeline&) = delete;  // the components refer to the vocabulary
  pipeline& operator=(const pipeline&) = delete;
  ~pipeline() = default;

  [[nodiscard]] std::size_t size() const { return words_.size(); }
  /// Without added tokens.
  [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_size_; }
  [[nodiscard]] std::optional<std::uint32_t> find(const std::string& word) const { return words_.find_token(word); }
  [[nodiscard]] bool has(std::size_t id) const { return word(id) != nullptr; }
  /// Null for ids without a token.
  [[nodiscard]] const std::string* word(std::size_t id) const {
    return id < size() ? words_.word(static_cast<std::uint32_t>(id)) : nullptr;
  }
  /// The id of unknown tokens: of BPE, WordPiece and WordLevel.
  [[nodiscard]] std::optional<std::uint32_t> unknown() const { return unknown_; }
  [[nodiscard]] std::string fingerprint() const {
    std::uint64_t hash = 0xcbf29ce484222325U;
    const auto take = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3U; };
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (const std::string* const word = words_.word(static_cast<std::uint32_t>(i))) {
        for (const char c : *word) { take(static_cast<unsigned char>(c)); }
      }
      take(0);
    }
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4) { digits += "0123456789abcdef"[(hash >> shift) & 15U]; }
    return digits;
  }

  /// The number of ids that the post-processor adds to a text.
  [[nodiscard]] std::size_t around() const { return around_.around(false); }
  /// The number of ids that it adds before the text.
  [[nodiscard]] std::size_t before() const { return around_.before().size(); }
  /// At most `most` ids, including those of the post-processor, which are never truncated; `most` is at least
  /// `around()`.
  [[nodiscard]] ids encode(std::string_view text, bool around,
                           std::size_t most = std::numeric_limits<std::size_t>::max()) const {
    ids all = around ? around_.before() : ids();
    const std::string whole = as_utf8(text);
    growth limit(title_, characters_in(whole));
    encode_text(whole, limit, all);
    if (around && all.size() > most - around_.after().size()) { all.resize(most - around_.after().size()); }
    if (around) { all.insert(all.end(), around_.after().begin(), around_.after().end()); }
    return all;
  }
  /// Encodes one or two texts: truncated, with special tokens if `special`, without padding.
  [[nodiscard]] encoding encoded_texts(const std::vector<std::string_view>& texts, bool special) const {
    return encoded_texts(texts, special, truncation_);
  }
  /// The same with another truncation, or none.
  [[nodiscard]] encoding encoded_texts(const std::vector<std::string_view>& texts, bool special,
                                       const std::optional<truncation>& shortened) const {
    if (texts.size() == 2 && !around_.takes_pairs()) {
      throw io::file_error(title_ + ": the pair of the post_processor does not contain each of the texts A and B once");
    }
    std::vector<encoding> all;
    std::size_t size = 0;
    for (const std::string_view text : texts) {
      const std::string whole = as_utf8(text);
      size += whole.size();
      growth limit(title_, characters_in(whole));
      ids tokens;
      encode_text(whole, limit, tokens);
      all.push_back(encoding::of(std::move(tokens), 0, false));
    }
    const growth limit(title_, size);
    if (shortened) { shortened->apply(all, special ? around_.around(texts.size() == 2) : 0, limit); }
    return around_.around(std::move(all), special, limit);
  }
  /// Two texts with the special tokens of the file, at most `most`: the longer text is cut first.
  [[nodiscard]] encoding encoded_pair(std::string_view first, std::string_view second, std::size_t most) const {
    return encoded_texts({first, second}, true, truncation(title_, most));
  }
  /// Pads a batch of encodings if the file has padding settings.
  void pad(std::vector<encoding>& batch) const {
    if (padding_) { padding_->apply(batch); }
  }
  /// The normalized text and the pieces of the pre-tokenizer, without added tokens.
  [[nodiscard]] std::string normalized(std::string_view text) const {
    const std::string whole = as_utf8(text);
    return changed(whole, growth(title_, characters_in(whole)));
  }
  [[nodiscard]] std::vector<std::string> pre_tokens(std::string_view text) const {
    std::vector<std::string> all;
    const growth limit(title_, text.size());
    const pieces words = cut_pieces(normalized(text), true, limit);
    for (const range one : words.all) { all.emplace_back(words.of(one)); }
    return all;
  }

  [[nodiscard]] std::string decode(const ids& all, bool skips_special = true) const {
    std::vector<std::string> tokens;
    for (const std::uint32_t id : all) {
      const std::string* const word = words_.word(id);
      if (word != nullptr && !(skips_special && special_.contains(*word))) { tokens.push_back(*word); }
    }
    return joined_text(tokens);
  }

 private:
  void read_model(const reader& r, const json& model) {
    // Old files lack the model's type. It is read first, because the vocabulary of Unigram is a list.
    const bool said = model.is_object() && model.contains("type");
    const std::string type = said ? r.word(model, "type", "model") : "BPE";
    if (type == "BPE") {
      words_.read(r, r.at(model, "vocab", "model"));
      tokens_ = bpe_model(r, model, words_);
    } else if (type == "WordPiece") {
      words_.read(r, r.at(model, "vocab", "model"));
      tokens_ = wordpiece_model(r, model, words_);
    } else if (type == "WordLevel") {
      words_.read(r, r.at(model, "vocab", "model"));
      tokens_ = wordlevel_model(r, model, words_);
    } else if (type == "Unigram") {
      tokens_ = unigram_model<huggingface_scores>(r, model, words_);
    } else {
      r.refuse("the model " + io::detail::printable(type) + " is not supported");
    }
    vocabulary_size_ = words_.size();
    if (type != "Unigram" && model.contains("unk_token") && !model.at("unk_token").is_null()) {
      unknown_ = words_.find_token(r.word(model, "unk_token", "model"));
    }
  }
  void add_pieces(const reader& r, const sentencepiece_file& file,
                  const std::shared_ptr<const byte_trie>& user_defined) {
    for (std::size_t i = 0; i < file.pieces.size(); ++i) {
      const auto id = static_cast<std::uint32_t>(i);
      if (sentencepiece_file::is_reserved(file.pieces[i].kind)) {
        words_.add_token(file.pieces[i].text, id);
      } else {
        words_.add(file.pieces[i].text, id);
      }
    }
    switch (file.kind) {
      case sentencepiece_kind::unigram:
        tokens_ = unigram_model<sentencepiece_scores>(r, file, words_);
        break;
      case sentencepiece_kind::bpe:
        tokens_ = sentencepiece_bpe(file, words_, user_defined);
        break;
    }
  }
  static void check_steps(const reader& r, const char* where, std::size_t steps) {
    if (steps > most_steps) {
      r.refuse(std::string("a ") + where + " of " + std::to_string(steps) + " steps is not supported, the limit is " +
               std::to_string(most_steps));
    }
  }
  [[nodiscard]] std::string changed(std::string text, const growth& limit) const {
    for (const change& c : changes_) { text = c(std::move(text), limit); }
    return text;
  }
  void encode_text(const std::string& whole, growth& limit, ids& to) const {
    const auto add = [&](const added_token& token) { to.push_back(token.id); };
    added_.each_part(whole, [&](std::size_t begin, std::size_t end) {
      const std::string part = changed(whole.substr(begin, end - begin), limit);
      added_normalised_.each_part(part, [&](std::size_t inner, std::size_t inner_end) {
        const bool first = begin == 0 && inner == 0;
        encode_words(part.substr(inner, inner_end - inner), first, limit, to);
      }, add);
    }, add);
  }
  [[nodiscard]] pieces cut_pieces(std::string text, bool first, const growth& limit) const {
    pieces words;
    words.text = std::move(text);
    words.begins_text = first;
    if (!words.text.empty()) { words.all.push_back({0, words.text.size()}); }
    for (const cut& c : cuts_) { c(words, limit); }
    return words;
  }
  void encode_words(std::string text, bool first, growth& limit, ids& to) const {
    const pieces words = cut_pieces(std::move(text), first, limit);
    limit.spend(characters_in(words.text));
    std::visit([&](const auto& model) {
      if constexpr (!std::is_same_v<std::decay_t<decltype(model)>, std::monostate>) {
        for (const range one : words.all) { model(words.of(one), to); }
      }
    }, tokens_);
  }
  void add_words(const reader& r, const json& from) {
    if (!from.contains("added_tokens") || from.at("added_tokens").is_null()) { return; }
    if (!from.at("added_tokens").is_array()) { r.refuse("added_tokens is not a list"); }
    for (const json& one : from.at("added_tokens")) {
      const std::string content = r.word(one, "content", "an added token");
      if (content.empty()) { continue; }
      if (content.size() > most_in_added_token) {
        r.refuse("an added token of more than " + std::to_string(most_in_added_token) + " bytes is not supported");
      }
      added_token w{content, r.id(r.at(one, "id", "an added token"), content)};
      w.special = r.flag(one, "special", false);
      w.strips_left = r.flag(one, "lstrip", false);
      w.strips_right = r.flag(one, "rstrip", false);
      w.single = r.flag(one, "single_word", false);
      // A token of the vocabulary keeps its id, as in HuggingFace's library.
      w.id = words_.find_token(content).value_or(w.id);
      if (const std::string* const other = words_.word(w.id); other != nullptr && *other != content) {
        r.refuse("the added token " + io::detail::printable(content) + " has the id " + std::to_string(w.id) +
                 ", which differs from the vocabulary");
      }
      words_.add_token(content, w.id);
      if (w.special) { special_.insert(content); }
      if (!r.flag(one, "normalized", !w.special)) {
        added_.add(std::move(w));
        continue;
      }
      // These tokens are matched in normalized text, so they are normalized as well.
      const growth limit(title_, characters_in(w.content));
      w.content = changed(std::move(w.content), limit);
      if (!w.content.empty()) { added_normalised_.add(std::move(w)); }
    }
  }
  [[nodiscard]] std::string joined_text(std::vector<std::string> tokens) const {
    std::size_t size = 0;
    for (const auto& one : tokens) { size += one.size(); }
    const growth limit(title_, size);
    for (const auto& step : steps_) { tokens = step(std::move(tokens), limit); }
    std::string text;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0) { text += between_; }
      text += tokens[i];
    }
    return as_utf8(text);  // invalid UTF-8 becomes U+FFFD
  }

  std::string title_;
  vocabulary words_{};
  std::size_t vocabulary_size_ = 0;
  std::optional<std::uint32_t> unknown_{};
  std::variant<std::monostate, bpe_model, wordpiece_model, wordlevel_model, unigram_model<huggingface_scores>,
               unigram_model<sentencepiece_scores>, unigram_model<marian_scores>, sentencepiece_bpe>
      tokens_{};
  added_tokens added_{};
  added_tokens added_normalised_{};
  std::set<std::string> special_{};  // texts, because the vocabulary may have one twice
  std::vector<change> changes_{};
  std::vector<cut> cuts_{};
  std::vector<decode_step> steps_{};
  std::string between_ = " ";  // without a decoder, tokens are separated by spaces
  post_processor around_{};
  std::optional<truncation> truncation_{};
  std::optional<padding_rule> padding_{};
};

}  // namespace dimwise::text::detail
