// SPDX-License-Identifier: BSL-1.0
// dimwise/text/components/regex_syntax.hpp -- a pattern of Oniguruma in the syntax of PCRE2.
//
// Layer: text. Third party: PCRE2. Constructs that mean something else in PCRE2 are translated or rejected by name.
// Tests: tests/text/regex.test.cpp
#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8

#include <dimwise/text/settings.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <pcre2.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::text::detail {

// The name of a property without case, spaces and signs: Lu, Uppercase_Letter.
inline std::string plain_property(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != ' ' && c != '_' && c != '-') { plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
  }
  return plain;
}
// The inside of the set of a class such as [:alpha:]; empty for unknown names.
inline std::string_view posix_set(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> sets{{
      {"alpha", R"(\p{Alphabetic})"},
      {"alnum", R"(\p{Alphabetic}\p{Nd})"},
      {"ascii", R"(\x{0}-\x{7f})"},
      {"blank", R"(\p{Zs}\t)"},
      {"cntrl", R"(\p{Cc})"},
      {"digit", R"(\p{Nd})"},
      {"graph", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co})"},
      {"lower", R"(\p{Lowercase})"},
      {"print", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs})"},
      {"punct", R"(\p{P}\p{S})"},
      {"space", R"(\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})"},
      {"upper", R"(\p{Uppercase})"},
      {"word", R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})"},
      {"xdigit", "0-9A-Fa-f"},
  }};
  for (const auto& [known, inside] : sets) {
    if (known == name) { return inside; }
  }
  return {};
}
// Whether PCRE2 knows a script of this name.
inline bool is_script(const std::string& name) {
  const std::string pattern = "\\p{sc:" + name + "}";
  int code = 0;
  std::size_t at = 0;
  pcre2_code* const made =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF, &code, &at, nullptr);
  pcre2_code_free(made);
  return made != nullptr;
}

class oniguruma_pattern {
 public:
  oniguruma_pattern(reader r, std::string_view from) : r_(std::move(r)), from_(from) {
    while (at_ < from_.size()) { step(); }
    if (sets_ > 0) { r_.refuse("a [ without ]"); }
    close_options();
  }
  [[nodiscard]] const std::string& in_pcre2() const { return to_; }

 private:
  static constexpr std::string_view word_set = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})";
  // Outside of [] some numbers of Latin-1 belong to it.
  [[nodiscard]] std::string_view word() const { return sets_ > 0 ? posix_set("word") : word_set; }
  static constexpr std::string_view not_space =
      R"(\x{0}-\x{8}\x{e}-\x{1f}!-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027})"
      R"(\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff})";

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < from_.size() ? from_[at_ + ahead] : '\0';
  }
  [[nodiscard]] static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  [[nodiscard]] static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  [[nodiscard]] static bool is_hexadecimal(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
  [[noreturn]] void refuse(std::string_view what) const { r_.refuse(std::string(what) + " is not supported"); }
  void copy(std::size_t n = 1) {
    to_ += from_.substr(at_, n);
    at_ = std::min(at_ + n, from_.size());
  }

  void step() {
    const char c = peek();
    if (c == '\\' && at_ + 1 < from_.size()) {
      escape();
    } else if (c == '[') {
      open_set();
    } else if (sets_ > 0) {
      in_set(c);
    } else if (c == '(') {
      open_group();
    } else if (c == ')') {
      close_options();
      if (opened_.size() > 1) { opened_.pop_back(); }
      copy();
    } else if (c == '{') {
      interval();
    } else {
      copy();
    }
  }

  // A set within a set adds its characters.
  void open_set() {
    if (sets_ > 0 && peek(1) == ':') {
      posix_class();
      return;
    }
    if (sets_ > 0) {
      if (peek(1) == '^') { refuse("a [^ within []"); }
      if (to_.ends_with('-') && !to_.ends_with("\\-")) { refuse("a range that ends with a set"); }
      ++at_;
    } else {
      copy(peek(1) == '^' ? 2 : 1);
    }
    ++sets_;
    if (peek() == ']') {
      to_ += "\\]";
      ++at_;
    }
  }
  void in_set(char c) {
    if (c == '&' && peek(1) == '&') { refuse("an intersection of sets, &&,"); }
    if (c == ']' && --sets_ > 0) {
      ++at_;
      if (peek() == '-') {
        to_ += "\\-";
        ++at_;
      }
      return;
    }
    copy();
  }
  void posix_class() {
    const std::size_t end = from_.find(":]", at_ + 2);
    if (end == from_.npos) { r_.refuse("[: without :]"); }
    std::string_view name = from_.substr(at_ + 2, end - at_ - 2);
    const bool negated = name.starts_with('^');
    if (negated) { name.remove_prefix(1); }
    const std::string_view inside = posix_set(name);
    if (inside.empty()) { refuse("the class " + std::string(from_.substr(at_, end + 2 - at_))); }
    add_set(inside, negated, from_.substr(at_, end + 2 - at_));
    at_ = end + 2;
  }
  // A set of the characters `inside`, which may be one property.
  void add_set(std::string_view inside, bool negated, std::string_view source) {
    if (inside.starts_with("\\p{") && inside.find('}') + 1 == inside.size()) {
      to_.append(negated ? "\\P" : "\\p").append(inside.substr(2));
    } else if (sets_ == 0) {
      to_.append(negated ? "[^" : "[").append(inside).append("]");
    } else if (negated) {
      refuse(std::string(source) + " within []");
    } else {
      to_ += inside;
    }
  }

  // The line end ends a comment of (?x).
  void close_options() {
    for (std::size_t i = 0; i < opened_.back(); ++i) { to_ += extended_ ? "\n)" : ")"; }
  }
  void open_group() {
    if (peek(1) == '*') { refuse("(*"); }
    if (peek(1) == '?' && peek(2) == '#') {
      const std::size_t end = from_.find(')', at_);
      if (end == from_.npos) { r_.refuse("(?# without )"); }
      at_ = end + 1;
      return;
    }
    if (peek(1) == '?' && (is_letter(peek(2)) || peek(2) == '-')) {
      options();
      return;
    }
    if (peek(1) == '?' && std::string_view(":=!><(").find(peek(2)) == std::string_view::npos) {
      refuse("(?" + std::string(1, peek(2)));
    }
    opened_.push_back(0);
    copy(peek(1) == '?' && peek(2) == '(' ? 2 : 1);
  }
  // (?m) lets a dot match line ends: (?s) in PCRE2. Options without a colon apply to the rest of the group, with its
  // alternatives.
  void options() {
    const std::size_t end = from_.find_first_not_of("imx-", at_ + 2);
    const char after = end < from_.size() ? from_[end] : '\0';
    if (after != ':' && after != ')') { refuse(from_.substr(at_, std::min(end, from_.size() - 1) + 1 - at_)); }
    to_ += "(?";
    for (std::size_t i = at_ + 2; i < end; ++i) {
      to_ += from_[i] == 'm' ? 's' : from_[i];
      extended_ = extended_ || from_[i] == 'x';
    }
    to_ += ':';
    if (after == ':') {
      opened_.push_back(0);
    } else {
      ++opened_.back();
    }
    at_ = end + 1;
  }

  // {,n} is {0,n}. A + after an interval repeats it; in PCRE2 it forbids backtracking.
  void interval() {
    std::size_t i = 1;
    const auto number = [&](std::size_t otherwise) {
      std::size_t n = is_digit(peek(i)) ? 0 : otherwise;
      for (; is_digit(peek(i)); ++i) {
        n = std::min(n * 10 + static_cast<std::size_t>(peek(i) - '0'), std::size_t{1} << 20);
      }
      return n;
    };
    constexpr std::size_t unlimited = std::size_t{1} << 24;
    const std::size_t least = number(0);
    const bool exact = peek(i) != ',';
    if (!exact) { ++i; }
    const std::size_t most = exact ? least : number(unlimited);
    if (peek(i) != '}' || i < 2 || (i == 2 && !exact)) {
      copy();  // characters
      return;
    }
    const std::string_view source = from_.substr(at_, i + 2);
    const char after = peek(i + 1);
    if (after == '?' && exact) { refuse(source); }
    const bool repeated = after == '+';
    if (repeated && least > 1 && most < 2 * least - 1) { refuse(source); }
    if (exact && !repeated) {
      copy(i + 1);
      return;
    }
    to_ += "{" + std::to_string(least) + ",";
    if (most != unlimited && !(repeated && most > 0)) { to_ += std::to_string(most); }
    to_ += "}";
    at_ += i + (repeated ? 2 : 1);
  }

  void escape() {
    const char c = peek(1);
    const std::string_view source = from_.substr(at_, 2);
    switch (c) {
      case 's':
        return take(posix_set("space"), false);
      case 'S':
        return take(not_space, false);
      case 'w':
      case 'W':
        return take(word(), c == 'W');
      case 'h':
      case 'H':
        return take(posix_set("xdigit"), c == 'H');
      case 'O':
        if (sets_ > 0) { refuse("\\O within []"); }
        return take(R"(\x{0}-\x{10ffff})", false);
      case 'b':
      case 'B':
        return boundary(c == 'b');
      case 'v':
        return take("\\x0b", false);
      case 'u':
        if (from_.size() - at_ < 6 || !is_hexadecimal(peek(2)) || !is_hexadecimal(peek(3)) ||
            !is_hexadecimal(peek(4)) || !is_hexadecimal(peek(5))) {
          r_.refuse("\\u without four hexadecimal digits");
        }
        to_ += "\\x{" + std::string(from_.substr(at_ + 2, 4)) + "}";
        at_ += 6;
        return;
      case 'x':
        // Two digits are a byte.
        if (peek(2) != '{' && (!is_hexadecimal(peek(2)) || (is_hexadecimal(peek(3)) && peek(2) >= '8'))) {
          refuse(from_.substr(at_, 4));
        }
        copy(2);
        return;
      case 'p':
      case 'P':
        return property();
      default:
        break;
    }
    if (std::string_view("EFIJLQTUVijlmqo").find(c) != std::string_view::npos && !(c == 'o' && peek(2) == '{')) {
      to_ += c;  // a letter
      at_ += 2;
      return;
    }
    const bool known = !is_letter(c) || std::string_view("tnrfaedDcoNRXGAzZkgK").find(c) != std::string_view::npos;
    if (!known || ((c == 'N' || c == 'g' || c == 'k') && peek(2) == '{')) { refuse(source); }
    copy(2);
  }
  void take(std::string_view inside, bool negated) {
    add_set(inside, negated, from_.substr(at_, 2));
    at_ += 2;
  }
  void boundary(bool is_boundary) {
    if (sets_ > 0) {
      copy(2);
      return;
    }
    const std::string word = "[" + std::string(word_set) + "]";
    const char* const after = is_boundary ? "(?!" : "(?=";
    const char* const otherwise = is_boundary ? "(?=" : "(?!";
    to_.append("(?:(?<=").append(word).append(")").append(after).append(word).append(")|(?<!");
    to_.append(word).append(")").append(otherwise).append(word).append("))");
    at_ += 2;
  }
  // A script is the characters of this script, without those that several scripts share.
  void property() {
    const std::size_t end = peek(2) == '{' ? from_.find('}', at_) : from_.npos;
    if (end == from_.npos) {
      to_ += peek(1);  // a letter
      at_ += 2;
      return;
    }
    const std::string_view source = from_.substr(at_, end + 1 - at_);
    std::string_view name = from_.substr(at_ + 3, end - at_ - 3);
    bool negated = peek(1) == 'P';
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    const std::string plain = plain_property(name);
    at_ = end + 1;
    if (plain == "word" || plain == "punct") {
      add_set(plain == "word" ? word() : "\\p{P}", negated, source);
    } else if (const std::string_view inside = posix_set(plain); !inside.empty()) {
      add_set(inside, negated, source);
    } else {
      add_set("\\p{" + std::string(is_script(plain) ? "sc:" : "") + plain + "}", negated, source);
    }
  }

  reader r_;
  std::string_view from_;
  std::size_t at_ = 0;
  std::string to_{};
  bool extended_ = false;
  std::size_t sets_ = 0;                   // open [
  std::vector<std::size_t> opened_ = {0};  // of each open group, the groups that options have opened in it
};

}  // namespace dimwise::text::detail
