// SPDX-License-Identifier: BSL-1.0
// dimwise/text/normalizers.hpp -- what is done to a text before it is cut into words: a tokenizer.json's normalizer.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/text/growth.hpp>
#include <dimwise/text/settings.hpp>
#include <dimwise/text/unicode.hpp>

#include <functional>
#include <type_traits>

namespace dimwise::text::detail {

// A step of the normalizer, which checks how long the text becomes.
class change {
 public:
  // Of f(text), or of f(text, limit) where f itself may make it much longer.
  template <class F>
  explicit change(F f) {
    if constexpr (std::is_invocable_v<const F&, std::u32string, const growth&>) {
      f_ = std::move(f);
    } else {
      f_ = [g = std::move(f)](std::u32string t, const growth&) { return std::u32string(g(std::move(t))); };
    }
  }
  [[nodiscard]] std::u32string operator()(std::u32string text, const growth& limit) const {
    std::u32string made = f_(std::move(text), limit);
    limit.check(made.size());
    return made;
  }

 private:
  std::function<std::u32string(std::u32string, const growth&)> f_{};
};

// `check(size)` is told how long the text becomes.
template <class Text, class Check>
Text replaced(const Text& in, const std::type_identity_t<Text>& from, const std::type_identity_t<Text>& to,
              const Check& check) {
  if (from.empty()) { return in; }
  Text all;
  for (std::size_t i = 0; i < in.size();) {
    if (in.compare(i, from.size(), from) == 0) {
      check(all.size() + to.size());
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
    r.refuse(std::string(where) + ": a Replace of " + reader::shown_pattern(pattern) +
             " is not supported, a String was expected");
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
    // Unlike BertNormalizer's strip_accents, which decomposes first and takes away Mn alone.
    to.emplace_back([](std::u32string t) {
      std::erase_if(t, is_mark);
      return t;
    });
  } else if (type == "Prepend") {
    const auto what = decoded(r.word(from, "prepend", "normalizer"));
    to.emplace_back([what](const std::u32string& t, const growth& limit) {
      limit.check(what.size() + t.size());
      return t.empty() ? t : what + t;
    });
  } else if (type == "Replace") {
    const auto pattern = pattern_text(r, from, "normalizer");
    const auto content = decoded(r.word(from, "content", "normalizer"));
    to.emplace_back([pattern, content](const std::u32string& t, const growth& limit) {
      return replaced(t, pattern, content, [&](std::size_t size) { limit.check(size); });
    });
  } else if (type == "BertNormalizer") {
    const bool clean = r.flag(from, "clean_text", true);
    const bool ideographs = r.flag(from, "handle_chinese_chars", true);
    const bool lower = r.flag(from, "lowercase", true);
    const bool accents = r.flag(from, "strip_accents", lower);
    to.emplace_back([=](const std::u32string& t) {
      std::u32string all = bert_clean(t, clean, ideographs);
      if (accents) { all = without_accents(all); }
      return lower ? lowered(all) : all;
    });
  } else {
    r.refuse("the normalizer " + io::detail::printable(type) + " is not supported");
  }
}

}  // namespace dimwise::text::detail
