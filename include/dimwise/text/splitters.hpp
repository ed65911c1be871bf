// SPDX-License-Identifier: BSL-1.0
// dimwise/text/splitters.hpp -- how a text is cut into words: the pre_tokenizer of a tokenizer.json.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/settings.hpp>
#include <dimwise/text/split.hpp>

#include <array>
#include <functional>

namespace dimwise::text::detail {

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
    const bool space = r.flag(from, "add_prefix_space", true);
    const bool regex = r.flag(from, "use_regex", true);
    to.emplace_back([=](const std::u32string& text) {
      const bool add = space && !text.empty() && text.front() != U' ';
      const std::u32string whole = add ? U" " + text : text;
      auto words = regex ? words_by(split_pattern::gpt2, whole) : std::vector{whole};
      for (auto& w : words) { w = signs_of_bytes(w); }
      return words;
    });
  } else if (type == "Split") {
    const json& pattern = r.at(from, "pattern", "pre_tokenizer");
    const std::string regex =
        pattern.is_object() && pattern.contains("Regex") ? r.word(pattern, "Regex", "pattern") : "";
    const auto known = pattern_of(regex);
    if (!known) { r.refuse("the pre_tokenizer Split by " + reader::shown_pattern(pattern) + " is not supported"); }
    if (const auto behavior = r.word(from, "behavior", "pre_tokenizer"); behavior != "Isolated") {
      r.refuse("a Split that is " + io::detail::printable(behavior) + " is not supported, Isolated was expected");
    }
    if (r.flag(from, "invert", false)) { r.refuse("a Split that is inverted is not supported"); }
    to.emplace_back([known](const std::u32string& text) { return words_by(*known, text); });
  } else if (type == "BertPreTokenizer") {
    to.emplace_back([](const std::u32string& text) { return bert_words(text); });
  } else {
    r.refuse("the pre_tokenizer " + io::detail::printable(type) + " is not supported");
  }
}

}  // namespace dimwise::text::detail
