// SPDX-License-Identifier: BSL-1.0
// dimwise/text/word_models.hpp -- the parts of a tokenizer.json and their order: added words, normal form, words, their
// pieces, what is put around.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/io/config.hpp>
#include <dimwise/text/bpe.hpp>
#include <dimwise/text/split.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

namespace dimwise::text::detail {

using nlohmann::json;
using ids = std::vector<std::uint32_t>;

// Settings that are not supported are refused by their place and name.
class reader {
 public:
  explicit reader(std::string title) : title_(std::move(title)) {}
  [[noreturn]] void refuse(const std::string& what) const { throw io::file_error(title_ + ": " + what); }
  [[nodiscard]] const json& at(const json& from, const char* key, const char* where) const {
    if (!from.is_object() || !from.contains(key)) { refuse(std::string(where) + " lacks " + key); }
    return from.at(key);
  }
  [[nodiscard]] std::string word(const json& from, const char* key, const char* where) const {
    const json& value = at(from, key, where);
    if (!value.is_string()) { refuse(std::string(where) + ": " + key + " is no text"); }
    return value.get<std::string>();
  }
  [[nodiscard]] static bool flag(const json& from, const char* key, bool otherwise) {
    return from.contains(key) && from.at(key).is_boolean() ? from.at(key).get<bool>() : otherwise;
  }
  [[nodiscard]] std::uint32_t id(const json& value, const std::string& of) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= (1U << 24)) {
      refuse("the id of " + io::detail::printable(of) + " is no whole number below 2^24");
    }
    return value.get<std::uint32_t>();
  }

 private:
  std::string title_;
};

// --- what is done to a text as a whole ---

using change = std::function<std::u32string(std::u32string)>;

inline std::u32string replaced(const std::u32string& in, const std::u32string& from, const std::u32string& to) {
  if (from.empty()) { return in; }
  std::u32string all;
  for (std::size_t i = 0; i < in.size();) {
    if (in.compare(i, from.size(), from) == 0) {
      all += to;
      i += from.size();
    } else {
      all += in[i++];
    }
  }
  return all;
}
inline std::u32string without_accents(const std::u32string& in) {
  std::u32string all = normalised(in, normal_form::nfd);
  std::erase_if(all, is_accent);
  return all;
}
inline std::u32string bert_clean(const std::u32string& in, bool clean, bool ideographs) {
  std::u32string all;
  for (const code_point c : in) {
    if (clean && (c == 0 || c == 0xfffd || is_control(c))) { continue; }
    if (ideographs && is_ideograph(c)) {
      all += U' ';
      all += c;
      all += U' ';
    } else {
      all += clean && is_space(c) ? U' ' : c;
    }
  }
  return all;
}
inline std::u32string pattern_text(const reader& r, const json& from, const char* where) {
  const json& pattern = r.at(from, "pattern", where);
  if (!pattern.is_object() || !pattern.contains("String")) {
    r.refuse(std::string(where) + ": a pattern that is no String is not supported");
  }
  return decoded(r.word(pattern, "String", where));
}

inline void add_normalizer(const reader& r, const json& from, std::vector<change>& to) {
  if (from.is_null()) { return; }
  const std::string type = r.word(from, "type", "normalizer");
  if (type == "Sequence") {
    for (const json& one : r.at(from, "normalizers", "normalizer")) { add_normalizer(r, one, to); }
  } else if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    const auto form = type == "NFC"    ? normal_form::nfc
                      : type == "NFD"  ? normal_form::nfd
                      : type == "NFKC" ? normal_form::nfkc
                                       : normal_form::nfkd;
    to.emplace_back([form](const std::u32string& t) { return normalised(t, form); });
  } else if (type == "Lowercase") {
    to.emplace_back([](const std::u32string& t) { return lowered(t); });
  } else if (type == "StripAccents") {
    to.emplace_back([](std::u32string t) {
      std::erase_if(t, is_accent);
      return t;
    });
  } else if (type == "Prepend") {
    const auto what = decoded(r.word(from, "prepend", "normalizer"));
    to.emplace_back([what](const std::u32string& t) { return t.empty() ? t : what + t; });
  } else if (type == "Replace") {
    const auto pattern = pattern_text(r, from, "normalizer");
    const auto content = decoded(r.word(from, "content", "normalizer"));
    to.emplace_back([pattern, content](const std::u32string& t) { return replaced(t, pattern, content); });
  } else if (type == "BertNormalizer") {
    const bool clean = reader::flag(from, "clean_text", true);
    const bool ideographs = reader::flag(from, "handle_chinese_chars", true);
    const bool lower = reader::flag(from, "lowercase", true);
    const bool accents = reader::flag(from, "strip_accents", lower);
    to.emplace_back([=](const std::u32string& t) {
      std::u32string all = bert_clean(t, clean, ideographs);
      if (accents) { all = without_accents(all); }
      return lower ? lowered(all) : all;
    });
  } else {
    r.refuse("the normalizer " + io::detail::printable(type) + " is not supported");
  }
}

// --- how a text is cut into words ---

using cut = std::function<std::vector<std::u32string>(const std::u32string&)>;

inline std::u32string signs_of_bytes(const std::u32string& in) {
  static const auto signs = [] {
    std::array<code_point, 256> all{};
    for (unsigned b = 0; b < 256; ++b) { all[b] = sign_of_byte(static_cast<unsigned char>(b)); }
    return all;
  }();
  std::u32string all;
  for (const char c : encoded(in)) { all += signs[static_cast<unsigned char>(c)]; }
  return all;
}

inline void add_splitter(const reader& r, const json& from, std::vector<cut>& to) {
  if (from.is_null()) { return; }
  const std::string type = r.word(from, "type", "pre_tokenizer");
  if (type == "Sequence") {
    for (const json& one : r.at(from, "pretokenizers", "pre_tokenizer")) { add_splitter(r, one, to); }
  } else if (type == "ByteLevel") {
    const bool space = reader::flag(from, "add_prefix_space", true);
    const bool regex = reader::flag(from, "use_regex", true);
    to.emplace_back([=](const std::u32string& text) {
      const bool add = space && !text.empty() && text.front() != U' ';
      const std::u32string whole = add ? U" " + text : text;
      auto words = regex ? words_by(word_pattern::gpt2, whole) : std::vector{whole};
      for (auto& w : words) { w = signs_of_bytes(w); }
      return words;
    });
  } else if (type == "Split") {
    const json& pattern = r.at(from, "pattern", "pre_tokenizer");
    const std::string regex =
        pattern.is_object() && pattern.contains("Regex") ? r.word(pattern, "Regex", "pattern") : "";
    const auto known = pattern_of(regex);
    if (!known) { r.refuse("the pattern of words " + io::detail::printable(regex) + " is not supported"); }
    if (r.word(from, "behavior", "pre_tokenizer") != "Isolated" || reader::flag(from, "invert", false)) {
      r.refuse("a split that is not Isolated is not supported");
    }
    to.emplace_back([known](const std::u32string& text) { return words_by(*known, text); });
  } else if (type == "BertPreTokenizer") {
    to.emplace_back([](const std::u32string& text) { return bert_words(text); });
  } else {
    r.refuse("the pre_tokenizer " + io::detail::printable(type) + " is not supported");
  }
}

// --- the pieces of a word ---

class vocabulary {
 public:
  vocabulary() = default;
  vocabulary(const reader& r, const json& from) {
    if (!from.is_object()) { r.refuse("the vocabulary is no object"); }
    for (const auto& [word, id] : from.items()) { add(word, r.id(id, word)); }
    if (words_.size() < ids_.size()) { r.refuse("two words of the vocabulary have one id"); }
  }
  void add(const std::string& word, std::uint32_t id) {
    ids_.insert_or_assign(word, id);
    words_.insert_or_assign(id, word);
    size_ = std::max<std::size_t>(size_, id + std::size_t{1});
  }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view word) const {
    const auto found = ids_.find(word);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] const std::string* word(std::uint32_t id) const {
    const auto found = words_.find(id);
    return found == words_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::map<std::string, std::uint32_t, std::less<>> ids_;
  std::map<std::uint32_t, std::string> words_;
  std::size_t size_ = 0;
};

class pair_model {
 public:
  pair_model() = default;
  pair_model(const reader& r, const json& from, const vocabulary& words) : words_(&words) {
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (from.contains(key) && from.at(key).is_string() && !from.at(key).get<std::string>().empty()) {
        r.refuse(std::string("the model's ") + key + " is not supported");
      }
    }
    if (from.contains("dropout") && from.at("dropout").is_number() && from.at("dropout").get<double>() != 0) {
      r.refuse("the model's dropout is not supported");
    }
    byte_fallback_ = reader::flag(from, "byte_fallback", false);
    fuse_ = reader::flag(from, "fuse_unk", false);
    whole_words_ = reader::flag(from, "ignore_merges", false);
    if (from.contains("unk_token") && from.at("unk_token").is_string()) {
      unknown_ = words.find(from.at("unk_token").get<std::string>());
      if (!unknown_) { r.refuse("the model's unk_token is not in the vocabulary"); }
    }
    if (byte_fallback_) {
      constexpr char digits[] = "0123456789ABCDEF";
      for (unsigned b = 0; b < 256; ++b) {
        const auto id = words.find(std::string("<0x") + digits[b >> 4] + digits[b & 15] + ">");
        if (!id) { r.refuse("the model falls back to bytes, which the vocabulary lacks"); }
        bytes_[b] = *id;
      }
    }
    for (const json& one : r.at(from, "merges", "model")) { add_merge(r, one); }
  }

  [[nodiscard]] ids operator()(const std::u32string& word) const {
    if (whole_words_) {
      if (const auto id = words_->find(encoded(word))) { return {*id}; }
    }
    ids symbols;
    bool unknown = false;
    for (const code_point c : word) {
      std::string one;
      append(one, c);
      if (const auto id = words_->find(one)) {
        symbols.push_back(*id);
        unknown = false;
      } else if (byte_fallback_) {
        for (const char b : one) { symbols.push_back(bytes_[static_cast<unsigned char>(b)]); }
        unknown = false;
      } else if (unknown_) {
        if (!unknown || !fuse_) { symbols.push_back(*unknown_); }
        unknown = true;
      }
    }
    return merges_.merged(std::move(symbols));
  }

 private:
  void add_merge(const reader& r, const json& one) {
    std::string left;
    std::string right;
    if (one.is_string()) {
      const std::string text = one.get<std::string>();
      const std::size_t space = text.find(' ');
      if (space == std::string::npos) { r.refuse("the merge " + io::detail::printable(text) + " is no pair"); }
      left = text.substr(0, space);
      right = text.substr(space + 1);
    } else if (one.is_array() && one.size() == 2 && one[0].is_string() && one[1].is_string()) {
      left = one[0].get<std::string>();
      right = one[1].get<std::string>();
    } else {
      r.refuse("a merge is no pair of texts");
    }
    const auto a = words_->find(left);
    const auto b = words_->find(right);
    const auto made = words_->find(left + right);
    if (!a || !b || !made) {
      r.refuse("the merge of " + io::detail::printable(left) + " and " + io::detail::printable(right) +
               " is not in the vocabulary");
    }
    merges_.add(*a, *b, *made);
  }

  const vocabulary* words_ = nullptr;
  pair_merges merges_;
  std::array<std::uint32_t, 256> bytes_{};
  std::optional<std::uint32_t> unknown_;
  bool byte_fallback_ = false;
  bool fuse_ = false;
  bool whole_words_ = false;
};

// The longest pieces from the left (Wu et al. 2016); those behind the first have a prefix.
class piece_model {
 public:
  piece_model() = default;
  piece_model(const reader& r, const json& from, const vocabulary& words) : words_(&words) {
    prefix_ = r.word(from, "continuing_subword_prefix", "model");
    const auto unknown = words.find(r.word(from, "unk_token", "model"));
    if (!unknown) { r.refuse("the model's unk_token is not in the vocabulary"); }
    unknown_ = *unknown;
    if (from.contains("max_input_chars_per_word")) {
      longest_ = r.id(from.at("max_input_chars_per_word"), "max_input_chars_per_word");
    }
  }
  [[nodiscard]] ids operator()(const std::u32string& word) const {
    if (word.size() > longest_) { return {unknown_}; }
    ids all;
    for (std::size_t i = 0; i < word.size();) {
      std::size_t end = word.size();
      std::optional<std::uint32_t> found;
      for (; end > i && !found; --end) {
        found = words_->find((i > 0 ? prefix_ : "") + encoded(std::u32string_view(word).substr(i, end - i)));
      }
      if (!found) { return {unknown_}; }
      all.push_back(*found);
      i = end + 1;
    }
    return all;
  }

 private:
  const vocabulary* words_ = nullptr;
  std::string prefix_;
  std::uint32_t unknown_ = 0;
  std::size_t longest_ = 100;
};

// --- words that were added to the vocabulary, found in a text before all else ---

struct added_word {
  std::u32string content;
  std::uint32_t id = 0;
  bool special = false;
  bool strips_left = false;
  bool strips_right = false;
  bool single = false;
};

// Parts of a text: pieces between added words, and these.
struct part_of_text {
  std::u32string text;
  const added_word* word = nullptr;
};

inline std::vector<part_of_text> parts_by(const std::vector<added_word>& words, const std::u32string& text) {
  std::vector<part_of_text> parts;
  const auto in_word = [&](std::size_t i) {
    return i < text.size() && (is_letter(text[i]) || is_number(text[i]) || text[i] == U'_');
  };
  std::size_t begin = 0;
  const auto close = [&](std::size_t end) {
    if (end > begin) { parts.push_back({text.substr(begin, end - begin)}); }
  };
  for (std::size_t i = 0; i < text.size();) {
    const added_word* best = nullptr;
    for (const added_word& w : words) {
      if ((best == nullptr || w.content.size() > best->content.size()) &&
          text.compare(i, w.content.size(), w.content) == 0 &&
          !(w.single && ((i > 0 && in_word(i - 1)) || in_word(i + w.content.size())))) {
        best = &w;
      }
    }
    if (best == nullptr) {
      ++i;
      continue;
    }
    std::size_t first = i;
    i += best->content.size();
    if (best->strips_left) {
      while (first > begin && is_space(text[first - 1])) { --first; }
    }
    if (best->strips_right) {
      while (i < text.size() && is_space(text[i])) { ++i; }
    }
    close(first);
    parts.push_back({best->content, best});
    begin = i;
  }
  close(text.size());
  return parts;
}

/// All parts of a tokenizer.json, in the order in which a text goes through them.
class pipeline {
 public:
  pipeline(const json& from, const std::string& title) {
    const reader r(title);
    const json& model = r.at(from, "model", "the tokenizer");
    words_ = vocabulary(r, r.at(model, "vocab", "model"));
    // Old files do not say the model's type.
    const std::string type = model.contains("type") ? r.word(model, "type", "model") : "BPE";
    if (type == "BPE") {
      pieces_ = [m = pair_model(r, model, words_)](const std::u32string& w) { return m(w); };
    } else if (type == "WordPiece") {
      pieces_ = [m = piece_model(r, model, words_)](const std::u32string& w) { return m(w); };
    } else {
      r.refuse("the model " + io::detail::printable(type) + " is not supported");
    }
    add_words(r, from);
    if (from.contains("normalizer")) { add_normalizer(r, from.at("normalizer"), changes_); }
    if (from.contains("pre_tokenizer")) { add_splitter(r, from.at("pre_tokenizer"), cuts_); }
    if (from.contains("post_processor")) { add_template(r, from.at("post_processor")); }
    if (from.contains("decoder")) { add_decoder(r, from.at("decoder")); }
  }
  pipeline(const pipeline&) = delete;  // its parts refer to its vocabulary
  pipeline& operator=(const pipeline&) = delete;
  ~pipeline() = default;

  [[nodiscard]] std::size_t size() const { return words_.size(); }
  [[nodiscard]] std::optional<std::uint32_t> find(const std::string& word) const { return words_.find(word); }

  [[nodiscard]] ids encode(std::string_view text, bool around) const {
    ids all = around ? before_ : ids();
    for (const part_of_text& part : parts_by(added_, decoded(text))) {
      if (part.word != nullptr) {
        all.push_back(part.word->id);
        continue;
      }
      std::u32string changed = part.text;
      for (const change& c : changes_) { changed = c(std::move(changed)); }
      for (const part_of_text& inner : parts_by(added_normalised_, changed)) {
        if (inner.word != nullptr) {
          all.push_back(inner.word->id);
        } else {
          encode_words(inner.text, all);
        }
      }
    }
    if (around) { all.insert(all.end(), after_.begin(), after_.end()); }
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
  void encode_words(const std::u32string& text, ids& to) const {
    std::vector<std::u32string> words{text};
    for (const cut& c : cuts_) {
      std::vector<std::u32string> next;
      for (const auto& w : words) {
        auto made = c(w);
        next.insert(next.end(), std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
      }
      words = std::move(next);
    }
    for (const auto& w : words) {
      if (w.empty()) { continue; }
      const ids found = pieces_(w);
      to.insert(to.end(), found.begin(), found.end());
    }
  }
  void add_words(const reader& r, const json& from) {
    if (!from.contains("added_tokens")) { return; }
    for (const json& one : from.at("added_tokens")) {
      const std::string content = r.word(one, "content", "an added token");
      if (content.empty()) { continue; }
      added_word w{decoded(content), r.id(r.at(one, "id", "an added token"), content)};
      w.special = reader::flag(one, "special", false);
      w.strips_left = reader::flag(one, "lstrip", false);
      w.strips_right = reader::flag(one, "rstrip", false);
      w.single = reader::flag(one, "single_word", false);
      words_.add(content, w.id);
      if (w.special) { special_.insert(w.id); }
      (reader::flag(one, "normalized", !w.special) ? added_normalised_ : added_).push_back(std::move(w));
    }
  }
  void add_template(const reader& r, const json& from) {
    if (from.is_null()) { return; }
    const std::string type = r.word(from, "type", "post_processor");
    if (type == "Sequence") {
      for (const json& one : r.at(from, "processors", "post_processor")) { add_template(r, one); }
    } else if (type == "TemplateProcessing") {
      ids* to = &before_;
      for (const json& one : r.at(from, "single", "post_processor")) {
        if (one.is_object() && one.contains("Sequence")) {
          to = &after_;
          continue;
        }
        const std::string token = r.word(r.at(one, "SpecialToken", "post_processor"), "id", "post_processor");
        const auto id = words_.find(token);
        if (!id) {
          r.refuse("the post_processor's token " + io::detail::printable(token) + " is not in the vocabulary");
        }
        to->push_back(*id);
      }
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      for (const auto& [key, to] : {std::pair("cls", &before_), std::pair("sep", &after_)}) {
        const json& pair = r.at(from, key, "post_processor");
        if (!pair.is_array() || pair.size() != 2) {
          r.refuse("the post_processor's " + std::string(key) + " is no pair");
        }
        to->push_back(r.id(pair[1], key));
      }
    } else if (type != "ByteLevel") {  // which changes offsets alone
      r.refuse("the post_processor " + io::detail::printable(type) + " is not supported");
    }
  }
  void add_decoder(const reader& r, const json& from) {
    if (from.is_null()) { return; }
    const std::string type = r.word(from, "type", "decoder");
    const auto then = [this](auto step) { steps_.emplace_back(std::move(step)); };
    if (type == "Sequence") {
      for (const json& one : r.at(from, "decoders", "decoder")) { add_decoder(r, one); }
    } else if (type == "ByteLevel") {
      then([](std::vector<std::string> t) { return std::vector{bytes_of_signs(t)}; });
    } else if (type == "Replace") {
      const auto pattern = pattern_text(r, from, "decoder");
      const auto content = decoded(r.word(from, "content", "decoder"));
      then([=](std::vector<std::string> t) {
        for (auto& one : t) { one = encoded(replaced(decoded(one), pattern, content)); }
        return t;
      });
    } else if (type == "ByteFallback") {
      then([](const std::vector<std::string>& t) { return with_bytes(t); });
    } else if (type == "Fuse") {
      then([](const std::vector<std::string>& t) {
        std::string all;
        for (const auto& one : t) { all += one; }
        return std::vector{all};
      });
    } else if (type == "Strip") {
      const std::string content = r.word(from, "content", "decoder");
      const std::size_t start = r.id(r.at(from, "start", "decoder"), "start");
      const std::size_t stop = r.id(r.at(from, "stop", "decoder"), "stop");
      then([=](std::vector<std::string> t) {
        for (auto& one : t) {
          for (std::size_t i = 0; i < start && one.starts_with(content); ++i) { one.erase(0, content.size()); }
          for (std::size_t i = 0; i < stop && one.ends_with(content); ++i) { one.resize(one.size() - content.size()); }
        }
        return t;
      });
    } else if (type == "WordPiece") {
      const std::string prefix = r.word(from, "prefix", "decoder");
      then([prefix](std::vector<std::string> t) {
        for (std::size_t i = 1; i < t.size(); ++i) {
          t[i] = t[i].starts_with(prefix) ? t[i].substr(prefix.size()) : " " + t[i];
        }
        return t;
      });
    } else {
      r.refuse("the decoder " + io::detail::printable(type) + " is not supported");
    }
  }
  [[nodiscard]] std::string joined_text(std::vector<std::string> tokens) const {
    for (const auto& step : steps_) { tokens = step(std::move(tokens)); }
    std::string text;
    for (const auto& t : tokens) { text += t; }
    return encoded(decoded(text));  // bytes that are no UTF-8 become U+FFFD
  }
  static std::string bytes_of_signs(const std::vector<std::string>& tokens) {
    static const auto bytes = [] {
      std::map<code_point, char> all;
      for (unsigned b = 0; b < 256; ++b) { all[sign_of_byte(static_cast<unsigned char>(b))] = static_cast<char>(b); }
      return all;
    }();
    std::string text;
    for (const auto& t : tokens) {
      for (const code_point c : decoded(t)) {
        const auto found = bytes.find(c);
        if (found == bytes.end()) {
          append(text, c);  // an added word
        } else {
          text += found->second;
        }
      }
    }
    return text;
  }
  static std::vector<std::string> with_bytes(const std::vector<std::string>& tokens) {
    std::vector<std::string> all;
    std::string run;
    const auto close = [&] {
      if (!run.empty()) { all.push_back(encoded(decoded(run))); }
      run.clear();
    };
    for (const auto& t : tokens) {
      if (t.size() == 6 && t.starts_with("<0x") && t.back() == '>' && t.find_first_not_of("0123456789ABCDEF", 3) == 5) {
        run += static_cast<char>(std::stoi(t.substr(3, 2), nullptr, 16));
      } else {
        close();
        all.push_back(t);
      }
    }
    close();
    return all;
  }

  vocabulary words_;
  std::function<ids(const std::u32string&)> pieces_;
  std::vector<added_word> added_;
  std::vector<added_word> added_normalised_;
  std::set<std::uint32_t> special_;
  std::vector<change> changes_;
  std::vector<cut> cuts_;
  std::vector<std::function<std::vector<std::string>(std::vector<std::string>)>> steps_;
  ids before_;
  ids after_;
};

// GPT-2's own two files as the settings that a tokenizer.json has.
inline json gpt2_settings(const std::filesystem::path& vocab, const std::filesystem::path& merges) {
  const io::file_bytes file(merges);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  json pairs = json::array();
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find('\n', i), text.size());
    std::string line(text.substr(i, end - i));
    if (line.ends_with('\r')) { line.pop_back(); }
    if (!line.empty() && !line.starts_with("#version")) { pairs.push_back(line); }
    i = end + 1;
  }
  const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
  json added = json::array();
  json words = io::read_json(vocab);
  if (words.is_object() && words.contains("<|endoftext|>")) {
    added.push_back({{"id", words.at("<|endoftext|>")}, {"content", "<|endoftext|>"}, {"special", true}});
  }
  return {{"added_tokens", added},
          {"pre_tokenizer", bytes},
          {"decoder", bytes},
          {"model", {{"type", "BPE"}, {"vocab", std::move(words)}, {"merges", std::move(pairs)}}}};
}

}  // namespace dimwise::text::detail
