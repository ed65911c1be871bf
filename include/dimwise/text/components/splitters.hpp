// SPDX-License-Identifier: BSL-1.0
// dimwise/text/components/splitters.hpp -- the pre_tokenizer of a tokenizer.json, which splits a text into pieces.
//
// Layer: text. Each step maps pieces to pieces. The names are those of HuggingFace's library.
// Tests: tests/text/tokenizer.test.cpp, tests/text/components.test.cpp
#pragma once

#include <dimwise/text/components/pieces.hpp>
#include <dimwise/text/components/regex.hpp>
#include <dimwise/text/components/split.hpp>
#include <dimwise/text/growth.hpp>
#include <dimwise/text/unicode_scripts.hpp>

#include <array>
#include <functional>
#include <memory>

namespace dimwise::text::detail {

using cut = std::function<void(pieces&, const growth&)>;

// Splits every piece at its delimiters: `delimiters(text, found)` calls found(begin, end), relative to the piece.
template <class Delimiters>
cut cut_by(delimiter how, bool inverted, Delimiters delimiters) {
  return [how, inverted, delimiters = std::move(delimiters)](pieces& p, const growth&) {
    std::vector<range> all;
    all.reserve(p.all.size());
    for (const range one : p.all) {
      cutter to(all, one, how, inverted);
      delimiters(p.of(one), [&](std::size_t begin, std::size_t end) { to.found(one.begin + begin, one.begin + end); });
      to.finish();
    }
    p.all = std::move(all);
  };
}
// Every code point that satisfies `is` is a delimiter.
template <class Is>
cut cut_by_points(delimiter how, Is is) {
  return cut_by(how, false, [is](std::string_view text, const auto& found) {
    for (std::size_t i = 0; i < text.size();) {
      const auto [c, bytes, valid] = decode_at(text, i);
      if (is(c)) { found(i, i + bytes); }
      i += bytes;
    }
  });
}
inline cut cut_by_text(const std::string& pattern, delimiter how, bool inverted) {
  return cut_by(how, inverted, [pattern](std::string_view text, const auto& found) {
    for (std::size_t i = text.find(pattern); i != text.npos; i = text.find(pattern, i + pattern.size())) {
      found(i, i + pattern.size());
    }
  });
}

// Replaces the bytes of every piece: `change(piece, first, to)` appends the new bytes; `first` marks the first piece.
template <class Change>
void rewrite(pieces& p, const growth& limit, const Change& change) {
  std::string text;
  text.reserve(p.text.size() + p.text.size() / 4);
  for (range& one : p.all) {
    const std::size_t begin = text.size();
    change(p.of(one), p.begins_text && one.begin == 0, text);
    one = {begin, text.size()};
    limit.check(text.size() / 4);  // in bytes, up to four per character; the end counts characters
  }
  limit.check(characters_in(text));
  p.text = std::move(text);
}

// The UTF-8 form of the code point that represents a byte.
inline void append_byte_signs(std::string_view bytes, std::string& to) {
  static const auto signs = [] {
    std::array<std::array<char, 2>, 256> all{};
    for (unsigned b = 0; b < 256; ++b) {
      std::string sign;
      append(sign, sign_of_byte(static_cast<unsigned char>(b)));
      std::copy(sign.begin(), sign.end(), all[b].begin());
    }
    return all;
  }();
  for (const char c : bytes) {
    const auto& sign = signs[static_cast<unsigned char>(c)];
    to += sign[0];
    if (sign[1] != 0) { to += sign[1]; }
  }
}

inline void add_byte_level(const reader& r, const json& from, std::vector<cut>& to) {
  const bool space = r.flag(from, "add_prefix_space", true);
  if (space) {
    to.emplace_back([](pieces& p, const growth& limit) {
      rewrite(p, limit, [](std::string_view text, bool, std::string& all) {
        if (!text.starts_with(' ')) { all += ' '; }
        all += text;
      });
    });
  }
  if (r.flag(from, "use_regex", true)) {
    to.push_back(cut_by(delimiter::isolated, false,
                        [](std::string_view text, const auto& found) { each_word(split_pattern::gpt2, text, found); }));
  }
  to.emplace_back([](pieces& p, const growth& limit) {
    rewrite(p, limit, [](std::string_view text, bool, std::string& all) { append_byte_signs(text, all); });
  });
}

// The prepend scheme: which pieces begin with the replacement of a space.
enum class prepend_scheme : unsigned char { always, first, never };

inline prepend_scheme prepend_scheme_of(const reader& r, const json& from, const char* where) {
  const bool said = from.contains("prepend_scheme") && !from.at("prepend_scheme").is_null();
  const std::string name = said ? r.word(from, "prepend_scheme", where)
                                : (r.flag(from, "add_prefix_space", true) ? "always" : "never");  // old files
  if (said && name != "never" && !r.flag(from, "add_prefix_space", true)) {
    r.refuse(std::string(where) + ": the prepend_scheme is " + name + ", but add_prefix_space is false");
  }
  if (name == "always") { return prepend_scheme::always; }
  if (name == "first") { return prepend_scheme::first; }
  if (name == "never") { return prepend_scheme::never; }
  r.refuse(std::string(where) + ": the prepend_scheme " + io::detail::printable(name) +
           " is not supported, always, first or never was expected");
}
inline void add_metaspace(const reader& r, const json& from, std::vector<cut>& to) {
  std::string sign;
  append(sign, r.point(from, "replacement", "pre_tokenizer"));
  const prepend_scheme scheme = prepend_scheme_of(r, from, "pre_tokenizer");
  to.emplace_back([sign, scheme](pieces& p, const growth& limit) {
    rewrite(p, limit, [&](std::string_view text, bool first, std::string& all) {
      const bool begins = text.starts_with(' ') || text.starts_with(sign);
      if (!begins && (scheme == prepend_scheme::always || (scheme == prepend_scheme::first && first))) { all += sign; }
      for (const char c : text) {
        if (c == ' ') {
          all += sign;
        } else {
          all += c;
        }
      }
    });
  });
  if (r.flag(from, "split", true)) { to.push_back(cut_by_text(sign, delimiter::merged_with_next, false)); }
}

inline void add_split(const reader& r, const json& from, std::vector<cut>& to) {
  const json& pattern = r.at(from, "pattern", "pre_tokenizer");
  const delimiter how = delimiter_of(r, from, "behavior", nullptr);
  const bool inverted = r.flag(from, "invert", false);
  const bool is_text = pattern.is_object() && pattern.contains("String");
  if (is_text && !r.word(pattern, "String", "pattern").empty()) {
    to.push_back(cut_by_text(r.word(pattern, "String", "pattern"), how, inverted));
    return;
  }
  if (!is_text && (!pattern.is_object() || !pattern.contains("Regex"))) {
    r.refuse("the pre_tokenizer Split by " + reader::shown_pattern(pattern) +
             " is not supported, a String or a Regex was expected");
  }
  const std::string regex_text = r.word(pattern, is_text ? "String" : "Regex", "pattern");  // an empty String
  // These patterns match every byte, so Isolated and an inverted Removed split equally.
  const bool isolates = (how == delimiter::isolated) || (how == delimiter::removed && inverted);
  if (const auto known = pattern_of(regex_text); known && isolates) {
    to.push_back(cut_by(delimiter::isolated, false,
                        [known](std::string_view text, const auto& found) { each_word(*known, text, found); }));
    return;
  }
  const auto compiled = std::make_shared<const regex>(r, regex_text);
  to.push_back(cut_by(how, inverted,
                      [compiled](std::string_view text, const auto& found) { compiled->each_match(text, found); }));
}

inline void add_digits(const reader& r, const json& from, std::vector<cut>& to) {
  to.push_back(cut_by_points(r.flag(from, "individual_digits", false) ? delimiter::isolated : delimiter::contiguous,
                             [](code_point c) { return is_number(c); }));
}

// Runs of word characters, and runs of other non-spaces: \w+|[^\w\s]+.
inline void add_whitespace(std::vector<cut>& to) {
  to.push_back(cut_by(delimiter::removed, true, [](std::string_view text, const auto& found) {
    const auto kind = [](code_point c) { return is_word_character(c) ? 1 : is_space(c) ? 0 : 2; };
    std::size_t begin = 0;
    int run = 0;
    for (std::size_t i = 0; i < text.size();) {
      const auto [c, bytes, valid] = decode_at(text, i);
      if (const int now = kind(c); now != run) {
        if (run != 0) { found(begin, i); }
        begin = i;
        run = now;
      }
      i += bytes;
    }
    if (run != 0) { found(begin, text.size()); }
  }));
}

// Splits at changes of script. Spaces belong to the previous run; leading spaces are lost, as in HuggingFace's
// library.
inline void add_unicode_scripts(std::vector<cut>& to) {
  to.push_back(cut_by(delimiter::removed, true, [](std::string_view text, const auto& found) {
    constexpr std::size_t none = std::string_view::npos;
    std::size_t begin = none;
    std::uint8_t before = any_script;
    for (std::size_t i = 0; i < text.size();) {
      const auto [c, bytes, valid] = decode_at(text, i);
      std::uint8_t script = c == 0x30fc ? han_script : c == ' ' ? any_script : script_of(c);
      if (script == unknown_script) { script = any_script; }
      if (script != any_script && script != before) {
        if (begin != none) { found(begin, i); }
        begin = i;
        before = script;
      }
      i += bytes;
    }
    if (begin != none) { found(begin, text.size()); }
  }));
}

inline void add_fixed_length(const reader& r, const json& from, std::vector<cut>& to) {
  const std::size_t length = from.contains("length") ? r.count(from.at("length"), "length") : 5;
  if (length == 0) { r.refuse("the pre_tokenizer FixedLength has the length 0"); }
  to.push_back(cut_by(delimiter::isolated, false, [length](std::string_view text, const auto& found) {
    std::size_t begin = 0;
    std::size_t n = 0;
    for (std::size_t i = 0; i < text.size();) {
      i += decode_at(text, i).bytes;
      if (++n == length) {
        found(begin, i);
        begin = i;
        n = 0;
      }
    }
  }));
}

// The steps of one component, in order.
inline void add_cuts(const reader& r, const json& from, const std::string& type, std::vector<cut>& to) {
  if (type == "ByteLevel") {
    add_byte_level(r, from, to);
  } else if (type == "Metaspace") {
    add_metaspace(r, from, to);
  } else if (type == "Split") {
    add_split(r, from, to);
  } else if (type == "BertPreTokenizer") {
    to.push_back(cut_by_points(delimiter::removed, [](code_point c) { return is_space(c); }));
    to.push_back(cut_by_points(delimiter::isolated, [](code_point c) { return is_punctuation(c); }));
  } else if (type == "Whitespace") {
    add_whitespace(to);
  } else if (type == "WhitespaceSplit") {
    to.push_back(cut_by_points(delimiter::removed, [](code_point c) { return is_space(c); }));
  } else if (type == "Punctuation") {
    to.push_back(
        cut_by_points(delimiter_of(r, from, "behavior", "Isolated"), [](code_point c) { return is_punctuation(c); }));
  } else if (type == "Digits") {
    add_digits(r, from, to);
  } else if (type == "CharDelimiterSplit") {
    to.push_back(cut_by_points(delimiter::removed,
                               [d = r.point(from, "delimiter", "pre_tokenizer")](code_point c) { return c == d; }));
  } else if (type == "UnicodeScripts") {
    add_unicode_scripts(to);
  } else if (type == "FixedLength") {
    add_fixed_length(r, from, to);
  } else {
    r.refuse("the pre_tokenizer " + io::detail::printable(type) + " is not supported");
  }
}

inline void add_splitter(const reader& r, const json& from, std::vector<cut>& to) {
  if (from.is_null()) { return; }
  const std::string type = r.word(from, "type", "pre_tokenizer");
  if (type == "Sequence") {
    for (const json& one : r.list(from, "pretokenizers", "pre_tokenizer")) { add_splitter(r, one, to); }
    return;
  }
  std::vector<cut> parts;
  add_cuts(r, from, type, parts);
  to.emplace_back([parts = std::move(parts)](pieces& p, const growth& limit) {
    for (const cut& one : parts) { one(p, limit); }
  });
}

}  // namespace dimwise::text::detail
