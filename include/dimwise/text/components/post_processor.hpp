// SPDX-License-Identifier: BSL-1.0
// dimwise/text/components/post_processor.hpp -- the post_processor of a tokenizer.json, which adds special tokens.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/encoding.hpp>
#include <dimwise/text/growth.hpp>
#include <dimwise/text/models/vocabulary.hpp>
#include <dimwise/text/settings.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace dimwise::text::detail {

struct post_processor {
  // A text, or special tokens.
  struct part {
    std::optional<std::size_t> text{};  // 0 for the first text, 1 for the second
    ids special{};
    std::optional<std::uint32_t> type{};  // type id of the ids; without it a text keeps its own
  };

  post_processor() = default;
  post_processor(const reader& r, const json& from, const vocabulary& words) { add(r, from, words); }

  [[nodiscard]] const ids& before() const { return before_; }
  [[nodiscard]] const ids& after() const { return after_; }
  // The pair of some files omits a text.
  [[nodiscard]] bool takes_pairs() const { return !pair_.empty(); }
  // The number of special tokens for one text, and for two.
  [[nodiscard]] std::size_t around(bool is_pair) const {
    std::size_t n = 0;
    for (const part& one : is_pair ? pair_ : single_) { n += one.special.size(); }
    return n;
  }
  // The texts, with type ids 0 and 1, and the special tokens if `special`.
  [[nodiscard]] encoding around(std::vector<encoding> texts, bool special, const growth& limit) const {
    for (std::size_t i = 0; i < texts.size(); ++i) { texts[i].set_type(static_cast<std::uint32_t>(i)); }
    std::vector<encoding> all;
    for (const part& one : texts.size() == 2 ? pair_ : single_) {
      if (!one.text) {
        if (special) { all.push_back(encoding::of(one.special, one.type.value_or(0), true)); }
        continue;
      }
      all.push_back(texts[*one.text]);
      if (one.type && (special || types_always_)) { all.back().set_type(*one.type); }
    }
    return merged(all, limit);
  }

 private:
  void add(const reader& r, const json& from, const vocabulary& words) {
    if (from.is_null()) { return; }
    const std::string type = r.word(from, "type", "post_processor");
    if (type == "ByteLevel") { return; }  // it changes only offsets
    if (type == "Sequence") {
      for (const json& one : r.list(from, "processors", "post_processor")) { add(r, one, words); }
      return;
    }
    // HuggingFace's libraries disagree about the input of the second one.
    if (std::exchange(said_, true)) { r.refuse("a post_processor after another one is not supported"); }
    if (type == "TemplateProcessing") {
      types_always_ = true;
      single_ = template_of(r, from, "single", words);
      if (from.contains("pair")) { pair_ = template_of(r, from, "pair", words); }
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      const bool roberta = type == "RobertaProcessing";
      const ids cls{token_of(r, from, "cls", words)};
      const ids sep{token_of(r, from, "sep", words)};
      const std::uint32_t second = roberta ? 0 : 1;
      single_ = {{{}, cls, 0}, {0, {}, 0}, {{}, sep, 0}};
      pair_ = single_;
      if (roberta) { pair_.push_back({{}, sep, 0}); }
      pair_.push_back({1, {}, second});
      pair_.push_back({{}, sep, second});
    } else {
      r.refuse("the post_processor " + io::detail::printable(type) + " is not supported");
    }
    bool text = false;
    for (const part& one : single_) {
      ids& to = text ? after_ : before_;
      text = text || one.text.has_value();
      to.insert(to.end(), one.special.begin(), one.special.end());
    }
  }
  static std::uint32_t token_of(const reader& r, const json& from, const char* key, const vocabulary& words) {
    const json& pair = r.at(from, key, "post_processor");
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string()) {
      r.refuse("the post_processor's " + std::string(key) + " is not a pair of a token and its id");
    }
    return checked(r, pair[0].get<std::string>(), r.id(pair[1], key), words);
  }
  // `key` is `single`, which contains the text A once, or `pair`, which contains A and B.
  static std::vector<part> template_of(const reader& r, const json& from, const std::string& key,
                                       const vocabulary& words) {
    std::vector<part> all;
    std::size_t texts[2] = {0, 0};
    std::size_t around = 0;
    for (const json& one : r.list(from, key.c_str(), "post_processor")) {
      const bool is_text = one.is_object() && one.contains("Sequence");
      const json& said = is_text ? one.at("Sequence") : r.at(one, "SpecialToken", "post_processor");
      const std::string name = r.word(said, "id", "post_processor");
      part made;
      made.type = said.contains("type_id") ? static_cast<std::uint32_t>(r.count(said.at("type_id"), "type_id")) : 0;
      if (is_text) {
        if (name != "A" && name != "B") { r.refuse("the post_processor has a text that is neither A nor B"); }
        made.text = name == "A" ? 0 : 1;
        ++texts[*made.text];
      } else {
        made.special = special(r, from, name, words);
        around += made.special.size();
      }
      all.push_back(std::move(made));
      if (around > most_ids_around) {
        r.refuse("a post_processor that adds more than " + std::to_string(most_ids_around) +
                 " ids to a text is not supported");
      }
    }
    const bool is_pair = key == "pair";
    if (texts[0] == 1 && texts[1] == (is_pair ? 1U : 0U)) { return all; }
    if (!is_pair) {
      r.refuse("a post_processor whose `single` does not contain the text A exactly once is not supported");
    }
    return {};  // single texts do not need it; pairs are rejected
  }
  // The ids of a special token by the template's special_tokens, or of the token of that name.
  static ids special(const reader& r, const json& from, const std::string& name, const vocabulary& words) {
    if (!from.contains("special_tokens") || !from.at("special_tokens").is_object() ||
        !from.at("special_tokens").contains(name)) {
      return {found(r, name, words)};
    }
    const json& said = from.at("special_tokens").at(name);
    const json& numbers = r.at(said, "ids", "post_processor");
    const json& tokens = r.at(said, "tokens", "post_processor");
    if (!numbers.is_array() || !tokens.is_array() || numbers.size() != tokens.size()) {
      r.refuse("the post_processor's token " + io::detail::printable(name) + " needs one id for each of its tokens");
    }
    ids all;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!tokens[i].is_string()) { r.refuse("a token of the post_processor is not a string"); }
      all.push_back(checked(r, tokens[i].get<std::string>(), r.id(numbers[i], name), words));
    }
    return all;
  }
  static std::uint32_t found(const reader& r, const std::string& token, const vocabulary& words) {
    const auto id = words.find_token(token);
    if (!id) { r.refuse("the post_processor's token " + io::detail::printable(token) + " is not in the vocabulary"); }
    return *id;
  }
  static std::uint32_t checked(const reader& r, const std::string& token, std::uint32_t said, const vocabulary& words) {
    const std::uint32_t id = found(r, token, words);
    if (id != said) {
      r.refuse("the post_processor's token " + io::detail::printable(token) + " has the id " + std::to_string(said) +
               ", in the vocabulary " + std::to_string(id));
    }
    return id;
  }

  std::vector<part> single_{part{0, {}, {}}};
  std::vector<part> pair_{part{0, {}, {}}, part{1, {}, {}}};
  ids before_{};
  ids after_{};
  bool types_always_ = false;  // also without special tokens
  bool said_ = false;
};

}  // namespace dimwise::text::detail
