// SPDX-License-Identifier: BSL-1.0
// dimwise/text/components/regex.hpp -- regular expressions of a tokenizer.json, matched by PCRE2 within a budget.
//
// Layer: text. Third party: PCRE2. HuggingFace's library uses Oniguruma; the pattern is translated, because the two
// differ in \s, \S, \w, \W, \h, \u and lines. Patterns may backtrack exponentially, so every text has a budget of
// steps. Tests: tests/text/components.test.cpp
#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8

#include <dimwise/text/settings.hpp>
#include <dimwise/text/unicode.hpp>

#include <memory>
#include <pcre2.h>
#include <string>
#include <string_view>

namespace dimwise::text::detail {

// A pattern of Oniguruma in the syntax of PCRE2.
inline std::string pcre2_pattern(const reader& r, std::string_view from) {
  constexpr std::string_view space =
      R"(\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
  constexpr std::string_view other =
      R"(\x{0}-\x{8}\x{e}-\x{1f}!-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027})"
      R"(\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff})";
  // Of the numbers that are not digits, Oniguruma includes only those of Latin-1.
  constexpr std::string_view word = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})";
  std::string to;
  std::size_t classes = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const char c = from[i];
    if (c == '\\' && i + 1 < from.size()) {
      const char next = from[++i];
      const auto set = [&](std::string_view inside, bool negated) {
        if (classes > 0 && negated) { r.refuse(std::string("\\") + next + " within [] is not supported"); }
        to += classes > 0 ? std::string(inside) : (negated ? "[^" : "[") + std::string(inside) + "]";
      };
      switch (next) {
        case 's':
          set(space, false);
          break;
        case 'S':
          set(other, false);
          break;
        case 'w':
          set(word, false);
          break;
        case 'W':
          set(word, true);
          break;
        case 'h':
          set("0-9A-Fa-f", false);
          break;
        case 'H':
          set("0-9A-Fa-f", true);
          break;
        case 'u':
          if (from.size() - i < 5 || from.substr(i + 1, 4).find_first_not_of("0123456789abcdefABCDEF") != from.npos) {
            r.refuse("\\u without four hexadecimal digits");
          }
          to += "\\x{" + std::string(from.substr(i + 1, 4)) + "}";
          i += 4;
          break;
        default:
          to += c;
          to += next;
          break;
      }
      continue;
    }
    if (classes == 0) {
      if (c == '[') {
        ++classes;
        to += c;
        if (i + 1 < from.size() && from[i + 1] == '^') { to += from[++i]; }
        if (i + 1 < from.size() && from[i + 1] == ']') { to += "\\]", ++i; }
        continue;
      }
    } else if (c == ']') {
      --classes;
    } else if (c == '&' && i + 1 < from.size() && from[i + 1] == '&') {
      r.refuse("an intersection of sets, &&, is not supported");
    } else if (c == '[') {
      if (i + 1 < from.size() && from[i + 1] == ':') {  // a POSIX class
        const std::size_t end = from.find(":]", i);
        if (end == from.npos) { r.refuse("[: without :]"); }
        to += from.substr(i, end + 2 - i);
        i = end + 1;
        continue;
      }
      to += '\\';  // a literal [: nested sets are not supported
    }
    to += c;
  }
  return to;
}

class regex {
 public:
  regex(const reader& r, const std::string& pattern) : title_(io::detail::printable(pattern, 400)) {
    const std::string translated = pcre2_pattern(reader(r.title() + ": the Regex " + title_), pattern);
    int code = 0;
    std::size_t at = 0;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                              PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                              &code, &at, nullptr));
    if (!code_) {
      PCRE2_UCHAR said[256];
      pcre2_get_error_message(code, said, sizeof(said));
      r.refuse("the Regex " + title_ + " cannot be compiled: " + reinterpret_cast<const char*>(said));
    }
    jit_ = pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE) == 0;  // PCRE2 interprets the pattern otherwise
  }

  // Calls f(begin, end) for each match in a UTF-8 text, except empty matches at the end of the previous match.
  template <class F>
  void each_match(std::string_view text, const F& f) const {
    const std::unique_ptr<pcre2_match_context, release> context(pcre2_match_context_create(nullptr));
    const std::unique_ptr<pcre2_match_data, release> data(pcre2_match_data_create(1, nullptr));
    std::unique_ptr<pcre2_jit_stack, release> stack;
    if (!context || !data) { throw std::bad_alloc(); }
    pcre2_set_heap_limit(context.get(), 64 * 1024);  // KiB
    std::size_t budget = (std::size_t{1} << 20) + 256 * text.size();
    std::size_t from = 0;
    std::size_t last_end = std::string_view::npos;
    std::uint32_t limit = first_limit;
    pcre2_set_match_limit(context.get(), limit);
    while (from <= text.size()) {
      const int found = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                                    PCRE2_NO_UTF_CHECK, data.get(), context.get());
      if (found == PCRE2_ERROR_NOMATCH) { return; }
      if (found == PCRE2_ERROR_JIT_STACKLIMIT && !stack) {
        stack.reset(pcre2_jit_stack_create(std::size_t{64} << 10, std::size_t{8} << 20, nullptr));
        if (!stack) { throw std::bad_alloc(); }
        pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
        continue;
      }
      if (found == PCRE2_ERROR_MATCHLIMIT && budget >= limit) {
        budget -= limit;  // the steps without a match
        limit *= 2;
        pcre2_set_match_limit(context.get(), limit);
        continue;
      }
      if (found < 0) {
        throw io::file_error("the Regex " + title_ + " takes more steps than a text of " + std::to_string(text.size()) +
                             " bytes has");
      }
      if (limit != first_limit) {
        limit = first_limit;
        pcre2_set_match_limit(context.get(), limit);
      }
      const std::size_t* const ends = pcre2_get_ovector_pointer(data.get());
      const std::size_t begin = ends[0];
      const std::size_t end = ends[1];
      if (begin >= end) {
        if (end == last_end) {
          if (from >= text.size()) { return; }
          from += decode_at(text, from).bytes;
          continue;
        }
      }
      from = last_end = end;
      f(begin, std::max(begin, end));
    }
  }

 private:
  static constexpr std::uint32_t first_limit = 1024;
  struct release {
    void operator()(pcre2_code* p) const { pcre2_code_free(p); }
    void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
    void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
    void operator()(pcre2_jit_stack* p) const { pcre2_jit_stack_free(p); }
  };
  std::string title_;
  std::unique_ptr<pcre2_code, release> code_{};
  bool jit_ = false;
};

}  // namespace dimwise::text::detail
