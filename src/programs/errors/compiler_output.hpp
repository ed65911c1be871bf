// src/programs/errors/compiler_output.hpp -- what a compiler prints, line by line: where its diagnostics begin and end.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cctype>
#include <cstddef>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace programs {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
inline bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// A line without the colours of the compiler and without its end.
inline std::string without_colours(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) { line.remove_suffix(1); }
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033' && i + 1 < line.size() && line[i + 1] == '[') {
      std::size_t end = i + 2;
      while (end < line.size() && (is_digit(line[end]) || line[end] == ';')) { ++end; }
      if (end < line.size() && (line[end] == 'm' || line[end] == 'K')) {
        i = end;
        continue;
      }
    }
    plain += line[i];
  }
  return plain;
}

/// A place in a file of the program; `column` is empty where the compiler does not say it.
struct source_place {
  std::string file;
  std::size_t line = 0;
  std::string column{};
  /// What the compiler says of it: "error", "warning", …
  std::string kind{};

  [[nodiscard]] std::string text() const {
    return file + ":" + std::to_string(line) + (column.empty() ? "" : ":" + column) + ":";
  }
  /// Whether it is in a header of dimwise or of the standard library.
  [[nodiscard]] bool is_of_library() const {
    for (const std::string_view folder : {"include/dimwise/", "include/c++/"}) {
      for (auto at = file.find(folder); at != std::string::npos; at = file.find(folder, at + 1)) {
        if (at == 0 || file[at - 1] == '/') { return true; }
      }
    }
    return false;
  }
};

/// The first "file:line:column:" or "file:line:" of a line whose rest `says` accepts; `says` gives its kind.
inline std::optional<source_place> find_place(std::string_view line,
                                              const std::function<std::optional<std::string>(std::string_view)>& says) {
  for (std::size_t colon = line.find(':', 1); colon != std::string_view::npos; colon = line.find(':', colon + 1)) {
    const auto number_from = [&](std::size_t at) {
      std::size_t end = at;
      while (end < line.size() && is_digit(line[end])) { ++end; }
      return end > at && end < line.size() && line[end] == ':' ? end : std::string_view::npos;
    };
    const std::size_t end = number_from(colon + 1);
    if (end == std::string_view::npos || end - colon > 10) { continue; }
    source_place place{std::string(line.substr(0, colon)),
                       std::stoul(std::string(line.substr(colon + 1, end - colon - 1)))};
    const std::size_t column = number_from(end + 1);
    if (column != std::string_view::npos) {
      if (const auto kind = says(line.substr(column + 1))) {
        place.column = line.substr(end + 1, column - end - 1);
        place.kind = *kind;
        return place;
      }
    }
    if (const auto kind = says(line.substr(end + 1))) {
      place.kind = *kind;
      return place;
    }
  }
  return std::nullopt;
}

/// "a.cpp:3:9: error: …": a diagnostic begins.
inline std::optional<source_place> head_of(std::string_view line) {
  return find_place(line, [](std::string_view rest) -> std::optional<std::string> {
    for (const std::string kind : {"fatal error", "error", "warning"}) {
      if (rest.starts_with(" " + kind + ": ")) { return kind; }
    }
    return std::nullopt;
  });
}

/// Whether it begins so after spaces, of which there is one at least where a place was said before.
inline bool is_required(std::string_view rest) {
  while (!rest.empty() && is_space(rest.front())) { rest.remove_prefix(1); }
  if (rest.starts_with("recursively ")) { rest.remove_prefix(12); }
  return rest.starts_with("required from") || rest.starts_with("required by");
}

/// The line that says who asked for a type of the library: "a.cpp:3:9:   required from here" or clang's note.
inline std::optional<source_place> asking_place(std::string_view line) {
  return find_place(line, [](std::string_view rest) -> std::optional<std::string> {
    if (rest.starts_with(" ") && (is_required(rest) || rest.starts_with(" note: in instantiation of "))) { return ""; }
    return std::nullopt;
  });
}

/// A line that leads to a diagnostic: who includes what, in which function, for which instantiation.
inline bool is_context(std::string_view line) {
  const auto names_line = [](std::string_view rest) {  // " file:12"
    const auto colon = rest.find(':', 2);
    for (auto at = colon; at != std::string_view::npos; at = rest.find(':', at + 1)) {
      if (at + 1 < rest.size() && is_digit(rest[at + 1])) { return rest.starts_with(" "); }
    }
    return false;
  };
  std::size_t spaces = 0;
  while (spaces < line.size() && is_space(line[spaces])) { ++spaces; }
  if (line.starts_with("In file included from") && names_line(line.substr(21))) { return true; }
  if (spaces >= 4 && line.substr(spaces).starts_with("from") && names_line(line.substr(spaces + 4))) { return true; }
  if (line.ends_with(":")) {
    const auto in = line.find(": In ", 1);
    if ((in != std::string_view::npos && line.size() > in + 6) || line.ends_with(": At global scope:")) { return true; }
  }
  return find_place(line, [](std::string_view rest) -> std::optional<std::string> {
    if (rest.empty() || !is_space(rest.front())) { return std::nullopt; }
    const bool skips = rest.find_first_not_of(" \t") != std::string_view::npos &&
                       rest.substr(rest.find_first_not_of(" \t")).starts_with("[ skipping");
    return is_required(rest) || skips ? std::optional<std::string>("") : std::nullopt;
  }).has_value();
}

inline bool is_note(std::string_view line) { return line.find(": note: ", 1) != std::string_view::npos; }

/// "   12 | code", and the lines below it that g++ and clang from 17 print: "      | ^~~~".
inline bool is_numbered(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size() && is_space(line[at])) { ++at; }
  std::size_t end = at;
  while (end < line.size() && is_digit(line[end])) { ++end; }
  if (end > at) { return line.substr(end).starts_with(" |"); }
  at = line.find_first_not_of(' ');
  return at != std::string_view::npos && at > 0 && line[at] == '|' && (at + 1 == line.size() || is_space(line[at + 1]));
}

/// "   ^~~~" alone: clang 14 shows a line without its number.
inline bool is_marker(std::string_view line) {
  const auto at = line.find_first_not_of(" \t");
  return at != std::string_view::npos && (line[at] == '^' || line[at] == '~') &&
         line.find_first_not_of(" \t~^") == std::string_view::npos;
}

/// The n-th line of a file as g++ shows it, which it leaves out where the error is inside the library; nothing where it
/// cannot be read.
inline std::vector<std::string> line_of(const std::string& file, std::size_t number) {
  std::ifstream lines(file, std::ios::binary);
  std::string line;
  for (std::size_t n = 0; n < number; ++n) {
    if (!std::getline(lines, line)) { return {}; }
  }
  while (!line.empty() && line.back() == '\r') { line.pop_back(); }
  const std::string shown = std::to_string(number);
  return {std::string(shown.size() < 5 ? 5 - shown.size() : 0, ' ') + shown + " | " + line};
}

/// The word that the marked part of a line begins with: what was called. Empty where nothing is marked.
inline std::string called_in(const std::vector<std::string>& source) {
  if (source.size() < 2) { return ""; }
  const auto mark = source[1].find_first_of("~^");
  if (mark == std::string::npos) { return ""; }
  const auto code_points = [](char c) { return (c & 0xC0) != 0x80; };
  std::size_t at = 0, points = 0;
  for (std::size_t i = 0; i < mark; ++i) { points += code_points(source[1][i]) ? 1 : 0; }
  while (at < source[0].size() && (points > 0 || !code_points(source[0][at]))) {
    points -= code_points(source[0][at]) && points > 0 ? 1 : 0;
    ++at;
  }
  std::string_view rest = std::string_view(source[0]).substr(at);
  std::string word;
  while (!rest.empty() && is_word(rest.front()) && !is_digit(rest.front())) {
    std::size_t end = 0;
    while (end < rest.size() && is_word(rest[end])) { ++end; }
    word = rest.substr(0, end);
    rest.remove_prefix(end);
    const std::size_t between = rest.starts_with(".") ? 1 : (rest.starts_with("->") || rest.starts_with("::") ? 2 : 0);
    if (between == 0) { break; }
    rest.remove_prefix(between);
  }
  return word;
}

/// Finds the diagnostics in the lines of a compiler. A diagnostic is what leads to it, its head, the program's line and
/// its notes. All lines are handed on, in their order.
class diagnostic_reader {
 public:
  using lines = std::vector<std::string>;

  /// `diagnostic` is called with the lines of each diagnostic, as they came, and the number of its first line; `other`
  /// with every other line.
  diagnostic_reader(std::function<void(const lines&, std::size_t)> diagnostic,
                    std::function<void(const std::string&)> other)
      : diagnostic_(std::move(diagnostic)), other_(std::move(other)) {}

  /// The next line, with its end.
  void line(const std::string& raw) {
    ++number_;
    const std::string text = without_colours(raw);
    if (held_) {
      const std::string held = *std::exchange(held_, std::nullopt);
      if (is_marker(text)) {
        block_.push_back(held);
        block_.push_back(raw);
        return;
      }
      flush();
      other_(held);
    }
    if (head_of(text)) {
      flush();
      block_ = std::exchange(leading_, {});
      first_ = number_ - block_.size();
      block_.push_back(raw);
      after_head_ = true;
    } else if (is_context(text)) {
      leading_.push_back(raw);
    } else if (!block_.empty() && is_note(text)) {
      for (std::string& one : leading_) { block_.push_back(std::move(one)); }
      leading_.clear();
      block_.push_back(raw);
      after_head_ = true;
    } else if (!block_.empty() && leading_.empty() && is_numbered(text)) {
      block_.push_back(raw);
      after_head_ = false;
    } else if (!block_.empty() && leading_.empty() && after_head_) {
      held_ = raw;
      after_head_ = false;
    } else {
      end();
      other_(raw);
    }
  }

  /// No line follows.
  void end() {
    flush();
    if (held_) { other_(*held_); }
    for (const std::string& one : leading_) { other_(one); }
    held_.reset();
    leading_.clear();
  }

 private:
  void flush() {
    if (!block_.empty()) { diagnostic_(block_, first_); }
    block_.clear();
    after_head_ = false;
  }

  std::function<void(const lines&, std::size_t)> diagnostic_;
  std::function<void(const std::string&)> other_;
  lines block_{}, leading_{};
  std::optional<std::string> held_{};  // the line after a head: clang 14 shows the program's line without its number
  std::size_t number_ = 0, first_ = 0;
  bool after_head_ = false;
};

}  // namespace programs
