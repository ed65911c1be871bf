// SPDX-License-Identifier: BSL-1.0
// dimwise/text/pipeline.hpp -- the parts of a tokenizer.json in their order: added words, normal form, words, pieces,
// what is put around.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/added_tokens.hpp>
#include <dimwise/text/bpe.hpp>
#include <dimwise/text/decoders.hpp>
#include <dimwise/text/normalizers.hpp>
#include <dimwise/text/post_processor.hpp>
#include <dimwise/text/splitters.hpp>
#include <dimwise/text/vocabulary.hpp>
#include <dimwise/text/wordpiece.hpp>

#include <functional>
#include <limits>
#include <set>

namespace dimwise::text::detail {

/// All parts of a tokenizer.json, in the order in which a text goes through them.
class pipeline {
 public:
  pipeline(const json& from, const std::string& title) : title_(title) {
    const reader r(title);
    const json& model = r.at(from, "model", "the tokenizer");
    // Old files do not say the model's type. It comes first: the vocabularies of others are no objects.
    const std::string type = model.is_object() && model.contains("type") ? r.word(model, "type", "model") : "BPE";
    if (type != "BPE" && type != "WordPiece") {
      r.refuse("the model " + io::detail::printable(type) + " is not supported");
    }
    words_ = vocabulary(r, r.at(model, "vocab", "model"));
    vocabulary_size_ = words_.size();
    if (type == "BPE") {
      pieces_ = [m = bpe_model(r, model, words_)](const std::u32string& w) { return m(w); };
    } else {
      pieces_ = [m = wordpiece_model(r, model, words_)](const std::u32string& w) { return m(w); };
    }
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
  }
  pipeline(const pipeline&) = delete;  // its parts refer to its vocabulary
  pipeline& operator=(const pipeline&) = delete;
  ~pipeline() = default;

  [[nodiscard]] std::size_t size() const { return words_.size(); }
  /// Without added tokens.
  [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_size_; }
  [[nodiscard]] std::optional<std::uint32_t> find(const std::string& word) const { return words_.find_token(word); }
  [[nodiscard]] bool has(std::size_t id) const {
    return id < size() && words_.word(static_cast<std::uint32_t>(id)) != nullptr;
  }
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

  /// How many ids the post-processor puts around a text.
  [[nodiscard]] std::size_t around() const { return around_.before.size() + around_.after.size(); }
  /// How many of them come before it.
  [[nodiscard]] std::size_t before() const { return around_.before.size(); }
  /// At most `most` ids, those around the text included, which stay: at least as many as `around()`.
  [[nodiscard]] ids encode(std::string_view text, bool around,
                           std::size_t most = std::numeric_limits<std::size_t>::max()) const {
    ids all = around ? around_.before : ids();
    const std::u32string whole = decoded(text);
    growth limit(title_, whole.size());
    for (const part_of_text& part : parts_by(added_, whole)) {
      if (part.word != nullptr) {
        all.push_back(part.word->id);
        continue;
      }
      for (const part_of_text& inner : parts_by(added_normalised_, changed(part.text, limit))) {
        if (inner.word != nullptr) {
          all.push_back(inner.word->id);
        } else {
          encode_words(inner.text, limit, all);
        }
      }
    }
    if (around && all.size() > most - around_.after.size()) { all.resize(most - around_.after.size()); }
    if (around) { all.insert(all.end(), around_.after.begin(), around_.after.end()); }
    return all;
  }

  [[nodiscard]] std::string decode(const ids& all) const {
    std::vector<std::string> tokens;
    for (const std::uint32_t id : all) {
      const std::string* const word = words_.word(id);
      if (word != nullptr && !special_.contains(id)) { tokens.push_back(*word); }
    }
    return joined_text(tokens);
  }

 private:
  static void check_steps(const reader& r, const char* where, std::size_t steps) {
    if (steps > most_steps) {
      r.refuse(std::string("a ") + where + " of " + std::to_string(steps) + " steps is not supported, the limit is " +
               std::to_string(most_steps));
    }
  }
  [[nodiscard]] std::u32string changed(std::u32string text, const growth& limit) const {
    for (const change& c : changes_) { text = c(std::move(text), limit); }
    return text;
  }
  void encode_words(const std::u32string& text, growth& limit, ids& to) const {
    std::vector<std::u32string> words{text};
    std::size_t size = text.size();
    for (const cut& c : cuts_) {
      std::vector<std::u32string> next;
      for (const auto& w : words) {
        auto made = c(w);
        next.insert(next.end(), std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
      }
      words = std::move(next);
      size = 0;
      for (const auto& w : words) { size += w.size(); }
      limit.check(size);
    }
    limit.spend(size);
    for (const auto& w : words) {
      if (w.empty()) { continue; }
      const ids found = pieces_(w);
      to.insert(to.end(), found.begin(), found.end());
    }
  }
  void add_words(const reader& r, const json& from) {
    if (!from.contains("added_tokens") || from.at("added_tokens").is_null()) { return; }
    if (!from.at("added_tokens").is_array()) { r.refuse("added_tokens is no list"); }
    for (const json& one : from.at("added_tokens")) {
      const std::string content = r.word(one, "content", "an added token");
      if (content.empty()) { continue; }
      added_token w{decoded(content), r.id(r.at(one, "id", "an added token"), content)};
      w.special = r.flag(one, "special", false);
      w.strips_left = r.flag(one, "lstrip", false);
      w.strips_right = r.flag(one, "rstrip", false);
      w.single = r.flag(one, "single_word", false);
      const auto known = words_.find_token(content);
      const std::string* const other = words_.word(w.id);
      if ((known && *known != w.id) || (other != nullptr && *other != content)) {
        r.refuse("the added token " + io::detail::printable(content) + " has the id " + std::to_string(w.id) +
                 ", which the vocabulary says otherwise");
      }
      words_.add_token(content, w.id);
      if (w.special) { special_.insert(w.id); }
      if (!r.flag(one, "normalized", !w.special)) {
        added_.push_back(std::move(w));
        continue;
      }
      // These are looked for in texts that went through the normalizer, so they go through it as well.
      const growth limit(title_, w.content.size());
      w.content = changed(std::move(w.content), limit);
      if (!w.content.empty()) { added_normalised_.push_back(std::move(w)); }
    }
  }
  [[nodiscard]] std::string joined_text(std::vector<std::string> tokens) const {
    std::size_t size = 0;
    for (const auto& one : tokens) { size += one.size(); }
    const growth limit(title_, size);
    for (const auto& step : steps_) { tokens = step(std::move(tokens), limit); }
    std::string text;
    for (std::size_t i = 0; i < tokens.size(); ++i) { text += (i > 0 ? between_ : "") + tokens[i]; }
    return encoded(decoded(text));  // bytes that are no UTF-8 become U+FFFD
  }

  std::string title_;
  vocabulary words_{};
  std::size_t vocabulary_size_ = 0;
  std::function<ids(const std::u32string&)> pieces_{};
  std::vector<added_token> added_{};
  std::vector<added_token> added_normalised_{};
  std::set<std::uint32_t> special_{};
  std::vector<change> changes_{};
  std::vector<cut> cuts_{};
  std::vector<decode_step> steps_{};
  std::string between_ = " ";  // without a decoder tokens are words of their own
  post_processor around_{};
};

// The tokens that special_tokens_map.json names, each a text, an object with its content, or a list of these.
inline std::set<std::string> special_tokens(const std::filesystem::path& path) {
  std::set<std::string> all;
  if (!std::filesystem::exists(path)) { return all; }
  const json map = io::read_json(path);
  const auto take = [&](const json& one) {
    const json& text = one.is_object() && one.contains("content") ? one.at("content") : one;
    if (text.is_string()) { all.insert(text.get<std::string>()); }
  };
  for (const json& one : map) {
    if (one.is_array()) {
      std::for_each(one.begin(), one.end(), take);
    } else {
      take(one);
    }
  }
  return all;
}

// GPT-2's own two files as the settings that a tokenizer.json has, with the added_tokens.json beside them.
inline json gpt2_settings(const std::filesystem::path& vocab, const std::filesystem::path& merges) {
  const io::file_bytes file(merges);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  json words = io::read_json(vocab);
  const auto known = [&](const std::string& word) { return !words.is_object() || words.contains(word); };
  json pairs = json::array();
  std::size_t number = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find('\n', i), text.size());
    std::string line(text.substr(i, end - i));
    i = end + 1;
    ++number;
    if (line.ends_with('\r')) { line.pop_back(); }
    if (line.empty() || line.starts_with("#version")) { continue; }
    // Here, because the file and the line are known here alone.
    const reader r(merges.string() + ": line " + std::to_string(number));
    const std::size_t space = line.find(' ');
    if (space == 0 || space >= line.size() - 1 || line.find(' ', space + 1) != std::string::npos) {
      r.refuse("the merge " + io::detail::printable(line) + " is no pair");
    }
    const std::string left = line.substr(0, space);
    const std::string right = line.substr(space + 1);
    if (!known(left) || !known(right) || !known(left + right)) {
      r.refuse("the merge of " + io::detail::printable(left) + " and " + io::detail::printable(right) +
               " is not in the vocabulary");
    }
    pairs.push_back(json::array({left, right}));
  }
  const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
  json added = json::array();
  if (words.is_object() && words.contains("<|endoftext|>")) {
    added.push_back({{"id", words.at("<|endoftext|>")}, {"content", "<|endoftext|>"}, {"special", true}});
  }
  const auto beside = vocab.parent_path().append("added_tokens.json");
  if (std::filesystem::exists(beside)) {
    const json tokens = io::read_json(beside);
    const auto special = special_tokens(vocab.parent_path().append("special_tokens_map.json"));
    if (!tokens.is_object()) { reader(beside.string()).refuse("an object of tokens and their ids was expected"); }
    for (const auto& [token, id] : tokens.items()) {
      if (token == "<|endoftext|>" && !added.empty()) { continue; }
      added.push_back({{"id", id}, {"content", token}, {"special", special.contains(token)}});
    }
  }
  return {{"added_tokens", added},
          {"pre_tokenizer", bytes},
          {"decoder", bytes},
          {"model", {{"type", "BPE"}, {"vocab", std::move(words)}, {"merges", std::move(pairs)}}}};
}

}  // namespace dimwise::text::detail
