// SPDX-License-Identifier: BSL-1.0
// dimwise/text/components/regex.hpp -- regular expressions of a tokenizer.json, matched by PCRE2 within a budget.
//
// Layer: text. Third party: PCRE2. HuggingFace's library uses Oniguruma, so the pattern is translated. Patterns may
// backtrack exponentially, so every text has a budget of steps.
// Tests: tests/text/regex.test.cpp, tests/text/components.test.cpp
#pragma once

#include <dimwise/text/components/regex_syntax.hpp>
#include <dimwise/text/settings.hpp>
#include <dimwise/text/unicode.hpp>

#include <memory>
#include <pcre2.h>
#include <string>
#include <string_view>

namespace dimwise::text::detail {

class regex {
 public:
  regex(const reader& r, const std::string& pattern) : title_(io::detail::printable(pattern, 400)) {
    const oniguruma_pattern source(reader(r.title() + ": the Regex " + title_), pattern);
    const std::string& translated = source.in_pcre2();
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
