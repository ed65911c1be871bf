// SPDX-License-Identifier: BSL-1.0
// dimwise/text/post_processor.hpp -- the ids that are put around a text: the post_processor of a tokenizer.json.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/growth.hpp>
#include <dimwise/text/settings.hpp>
#include <dimwise/text/vocabulary.hpp>

#include <utility>

namespace dimwise::text::detail {

struct post_processor {
  ids before{};
  ids after{};

  post_processor() = default;
  post_processor(const reader& r, const json& from, const vocabulary& words) { add(r, from, words); }

 private:
  void add(const reader& r, const json& from, const vocabulary& words) {
    if (from.is_null()) { return; }
    const std::string type = r.word(from, "type", "post_processor");
    if (type == "ByteLevel") { return; }  // it changes offsets alone
    if (type == "Sequence") {
      for (const json& one : r.at(from, "processors", "post_processor")) { add(r, one, words); }
      return;
    }
    // HuggingFace's libraries do not agree what the second one is put around.
    if (std::exchange(said_, true)) { r.refuse("a post_processor behind another one is not supported"); }
    if (type == "TemplateProcessing") {
      add_template(r, from, words);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      for (const auto& [key, to] : {std::pair("cls", &before), std::pair("sep", &after)}) {
        const json& pair = r.at(from, key, "post_processor");
        if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string()) {
          r.refuse("the post_processor's " + std::string(key) + " is no pair of a token and its id");
        }
        to->push_back(checked(r, pair[0].get<std::string>(), r.id(pair[1], key), words));
      }
    } else {
      r.refuse("the post_processor " + io::detail::printable(type) + " is not supported");
    }
  }
  void add_template(const reader& r, const json& from, const vocabulary& words) {
    std::size_t texts = 0;
    for (const json& one : r.at(from, "single", "post_processor")) {
      if (one.is_object() && one.contains("Sequence")) {
        texts += r.word(one.at("Sequence"), "id", "post_processor") == "A" ? 1 : 2;  // B is that of a pair
        continue;
      }
      const std::string name = r.word(r.at(one, "SpecialToken", "post_processor"), "id", "post_processor");
      const ids made = special(r, from, name, words);
      ids& to = texts == 0 ? before : after;
      to.insert(to.end(), made.begin(), made.end());
      if (before.size() + after.size() > most_ids_around) {
        r.refuse("a post_processor that puts more than " + std::to_string(most_ids_around) +
                 " ids around a text is not supported");
      }
    }
    if (texts != 1) { r.refuse("a post_processor whose single has not the text A once is not supported"); }
  }
  // What a template's special_tokens say of one; the word of that name where they say nothing.
  static ids special(const reader& r, const json& from, const std::string& name, const vocabulary& words) {
    if (!from.contains("special_tokens") || !from.at("special_tokens").is_object() ||
        !from.at("special_tokens").contains(name)) {
      return {found(r, name, words)};
    }
    const json& said = from.at("special_tokens").at(name);
    const json& numbers = r.at(said, "ids", "post_processor");
    const json& tokens = r.at(said, "tokens", "post_processor");
    if (!numbers.is_array() || !tokens.is_array() || numbers.size() != tokens.size()) {
      r.refuse("the post_processor's token " + io::detail::printable(name) + " has not an id for each of its tokens");
    }
    ids all;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!tokens[i].is_string()) { r.refuse("a token of the post_processor is no text"); }
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

  bool said_ = false;
};

}  // namespace dimwise::text::detail
