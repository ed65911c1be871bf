// SPDX-License-Identifier: BSL-1.0
// dimwise/text/components/normalizers.hpp -- the normalizer of a tokenizer.json.
//
// Layer: text. Texts are UTF-8.
// Tests: tests/text/tokenizer.test.cpp, tests/text/components.test.cpp
#pragma once

#include <dimwise/text/components/precompiled.hpp>
#include <dimwise/text/components/regex.hpp>
#include <dimwise/text/components/splitters.hpp>
#include <dimwise/text/growth.hpp>
#include <dimwise/text/settings.hpp>
#include <dimwise/text/unicode.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

namespace dimwise::text::detail {

// A step of the normalizer that checks the length of the text.
class change {
 public:
  // From f(text), or from f(text, limit) if f may lengthen it much.
  template <class F>
  explicit change(F f) {
    if constexpr (std::is_invocable_v<const F&, std::string, const growth&>) {
      f_ = std::move(f);
    } else {
      f_ = [g = std::move(f)](std::string t, const growth&) { return std::string(g(std::move(t))); };
    }
  }
  [[nodiscard]] std::string operator()(std::string text, const growth& limit) const {
    std::string made = f_(std::move(text), limit);
    limit.check(characters_in(made));
    return made;
  }

 private:
  std::function<std::string(std::string, const growth&)> f_{};
};

// The String or Regex of a setting `pattern`, and the replacement of its matches.
class replacement {
 public:
  replacement(const reader& r, const json& from, const char* where) : content_(r.word(from, "content", where)) {
    const json& pattern = r.at(from, "pattern", where);
    if (pattern.is_object() && pattern.contains("String")) {
      text_ = r.word(pattern, "String", where);
      if (text_.empty()) { regex_ = std::make_shared<const regex>(r, ""); }  // matches between all characters
    } else if (pattern.is_object() && pattern.contains("Regex")) {
      regex_ = std::make_shared<const regex>(r, r.word(pattern, "Regex", where));
    } else {
      r.refuse(std::string(where) + ": a Replace of " + reader::shown_pattern(pattern) +
               " is not supported, a String or a Regex was expected");
    }
  }
  // `done`: the length of the finished parts of the text.
  [[nodiscard]] std::string operator()(std::string text, const growth& limit, std::size_t done = 0) const {
    std::string all;
    std::size_t at = 0;
    const auto put = [&](std::size_t begin, std::size_t end) {
      all.append(text, at, begin - at);
      all += content_;
      at = end;
      limit.check((done + all.size()) / 4);  // in bytes, up to four per character; the end counts characters
    };
    if (regex_) {
      regex_->each_match(text, put);
    } else {
      for (std::size_t i = text.find(text_); i != text.npos; i = text.find(text_, i + text_.size())) {
        put(i, i + text_.size());
      }
    }
    if (at == 0 && all.empty()) { return text; }
    all.append(text, at);
    return all;
  }

 private:
  std::string content_;
  std::string text_{};
  std::shared_ptr<const regex> regex_{};
};

// Calls `change(code point, to)` for each code point.
template <class Change>
std::string changed_points(std::string_view text, const Change& change) {
  std::string all;
  all.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto [c, bytes, valid] = decode_at(text, i);
    change(c, all);
    i += bytes;
  }
  return all;
}
template <class Is>
std::string without(std::string_view text, const Is& is) {
  return changed_points(text, [&](code_point c, std::string& to) {
    if (!is(c)) { append(to, c); }
  });
}
inline std::string bert_clean(std::string_view text, bool clean, bool ideographs) {
  return changed_points(text, [=](code_point c, std::string& to) {
    if (clean && (c == 0 || c == 0xfffd || is_control(c))) { return; }
    if (ideographs && is_ideograph(c)) {
      to += ' ';
      append(to, c);
      to += ' ';
    } else if (clean && is_space(c)) {
      to += ' ';
    } else {
      append(to, c);
    }
  });
}
// The normalization for neural machine translation, `nmt` in sentencepiece.
inline std::string nmt_clean(std::string_view text) {
  return changed_points(text, [](code_point c, std::string& to) {
    if ((c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f) { return; }
    const bool space = c == 9 || c == 10 || c == 12 || c == 13 || c == 0x1680 || (c >= 0x200b && c <= 0x200f) ||
                       c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xfeff || c == 0xfffd;
    append(to, space ? U' ' : c);
  });
}
inline std::string stripped(std::string_view text, bool left, bool right) {
  std::size_t begin = 0;
  while (left && begin < text.size()) {
    const auto [c, bytes, valid] = decode_at(text, begin);
    if (!is_space(c)) { break; }
    begin += bytes;
  }
  std::size_t end = text.size();
  while (right && end > begin) {
    const std::size_t last = begin_of_last(text.substr(0, end));
    if (!is_space(decode_at(text, last).c)) { break; }
    end = last;
  }
  return std::string(text.substr(begin, end - begin));
}

inline void add_bert_normalizer(const reader& r, const json& from, std::vector<change>& to) {
  const bool clean = r.flag(from, "clean_text", true);
  const bool ideographs = r.flag(from, "handle_chinese_chars", true);
  const bool lower = r.flag(from, "lowercase", true);
  const bool accents = r.flag(from, "strip_accents", lower);
  to.emplace_back([=](const std::string& text) {
    std::string all = bert_clean(text, clean, ideographs);
    if (accents) {
      all = without(normalised(all, normal_form::nfd), [](code_point c) { return is_accent(c); });
    }
    return lower ? lowered(all) : all;
  });
}

inline void add_normalizer(const reader& r, const json& from, std::vector<change>& to) {
  if (from.is_null()) { return; }
  const std::string type = r.word(from, "type", "normalizer");
  if (type == "Sequence") {
    for (const json& one : r.list(from, "normalizers", "normalizer")) { add_normalizer(r, one, to); }
  } else if (type == "NFC") {
    to.emplace_back([](const std::string& t) { return normalised(t, normal_form::nfc); });
  } else if (type == "NFD") {
    to.emplace_back([](const std::string& t) { return normalised(t, normal_form::nfd); });
  } else if (type == "NFKC") {
    to.emplace_back([](const std::string& t) { return normalised(t, normal_form::nfkc); });
  } else if (type == "NFKD") {
    to.emplace_back([](const std::string& t) { return normalised(t, normal_form::nfkd); });
  } else if (type == "Lowercase") {
    to.emplace_back([](const std::string& t) { return lowered(t); });
  } else if (type == "Strip") {
    const bool left = r.flag(from, "strip_left", true);
    const bool right = r.flag(from, "strip_right", true);
    to.emplace_back([=](const std::string& t) { return stripped(t, left, right); });
  } else if (type == "StripAccents") {
    // BertNormalizer's strip_accents differs: it decomposes first and removes only Mn.
    to.emplace_back([](const std::string& t) { return without(t, [](code_point c) { return is_mark(c); }); });
  } else if (type == "Prepend") {
    to.emplace_back(
        [what = r.word(from, "prepend", "normalizer")](const std::string& t) { return t.empty() ? t : what + t; });
  } else if (type == "Replace") {
    to.emplace_back([by = replacement(r, from, "normalizer")](std::string t, const growth& limit) {
      return by(std::move(t), limit);
    });
  } else if (type == "Nmt") {
    to.emplace_back([](const std::string& t) { return nmt_clean(t); });
  } else if (type == "Precompiled") {
    const auto map = std::make_shared<const character_map>(
        r, bytes_of_base64(r, r.word(from, "precompiled_charsmap", "normalizer")));
    to.emplace_back([map](const std::string& t, const growth& limit) { return map->mapped(t, limit); });
  } else if (type == "ByteLevel") {
    to.emplace_back([](const std::string& t) {
      std::string all;
      append_byte_signs(t, all);
      return all;
    });
  } else if (type == "BertNormalizer") {
    add_bert_normalizer(r, from, to);
  } else {
    r.refuse("the normalizer " + io::detail::printable(type) + " is not supported");
  }
}

}  // namespace dimwise::text::detail
