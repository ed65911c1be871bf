// src/programs/errors/error_output.hpp -- the errors of dimwise among the diagnostics of a compiler, as text and as
// JSON.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "compiler_output.hpp"
#include "error_shapes.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace programs {

/// Colours of a terminal, or none.
class palette {
 public:
  explicit palette(bool on) : on_(on) {}
  [[nodiscard]] std::string bold(const std::string& text) const { return paint("1", text); }
  [[nodiscard]] std::string error(const std::string& text) const { return paint("1;31", text); }
  [[nodiscard]] std::string fix(const std::string& text) const { return paint("32", text); }

 private:
  [[nodiscard]] std::string paint(const char* code, const std::string& text) const {
    return on_ ? "\033[" + std::string(code) + "m" + text + "\033[0m" : text;
  }
  bool on_;
};

/// An error of dimwise among the diagnostics of a compiler.
struct found_error {
  source_place place;               // in the program, not in the library
  std::vector<std::string> source;  // the program's line, and what marks a part of it
  std::string printed;              // begins with the error's type
  std::string called;               // what the program's line calls, empty where it marks nothing
};

/// The error that a diagnostic names with most facts; nothing if it is not an error of dimwise.
inline std::optional<found_error> read_error(const std::vector<std::string>& raw) {
  std::vector<std::string> lines;
  for (const std::string& one : raw) { lines.push_back(without_colours(one)); }
  std::string printed;
  int most = -1;
  for (const std::string& line : lines) {
    for (auto at = line.find("ERROR_R"); at != std::string::npos; at = line.find("ERROR_R", at + 1)) {
      std::size_t end = at + 7;
      while (end < line.size() && is_digit(line[end])) { ++end; }
      const bool named = end > at + 7 && end + 1 < line.size() && line[end] == '_' && is_word(line[end + 1]);
      if (!named || (at > 0 && is_word(line[at - 1]))) { continue; }
      error_type type(std::string_view(line).substr(at), "");
      if (type.fact_count() > most) {
        most = type.fact_count();
        printed = line.substr(at);
      }
    }
  }
  std::size_t at = 0;
  while (at < lines.size() && !head_of(lines[at])) { ++at; }
  if (most < 0 || at == lines.size()) { return std::nullopt; }
  source_place place = *head_of(lines[at]);
  if (place.kind == "warning") { return std::nullopt; }
  if (place.is_of_library()) {  // where the program asked for it
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (auto asking = asking_place(lines[i]); asking && !asking->is_of_library()) {
        place = *asking;
        at = i;
        break;
      }
    }
  }
  std::vector<std::string> source;
  for (std::size_t i = at + 1; i < lines.size() && i < at + 4 && is_numbered(lines[i]); ++i) {
    source.push_back(lines[i]);
  }
  if (source.empty() && at + 2 < lines.size() && is_marker(lines[at + 2])) { source = {lines[at + 1], lines[at + 2]}; }
  if (source.empty()) { source = line_of(place.file, place.line); }
  std::string called = called_in(source);
  return found_error{std::move(place), std::move(source), std::move(printed), std::move(called)};
}

/// A text in lines of at most 120 columns.
inline std::vector<std::string> wrapped(const std::string& first, const std::string& text) {
  std::vector<std::string> lines{first};
  std::size_t columns = first.size();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (columns > first.size() && columns + 1 + width_of(word) > 120) {
      lines.emplace_back(first.size(), ' ');
      columns = first.size();
    }
    const bool is_first = columns == first.size();
    lines.back() += (is_first ? "" : " ") + word;
    columns += (is_first ? 0 : 1) + width_of(word);
    at = end + 1;
  }
  return lines;
}

/// The shapes, each in a line, and below them what marks the culprits.
inline std::vector<std::string> table(const shape_grid& grid, const palette& colours) {
  std::vector<std::string> lines;
  const auto ended = [](std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  };
  for (const shape_grid::row& row : grid.rows) {
    std::string line = "  " + row.label + std::string(row.label.size() < 10 ? 10 - row.label.size() : 0, ' ');
    for (std::size_t i = 0; i < grid.columns.size(); ++i) {
      const auto& column = grid.columns[i];
      const std::string shown =
          row.cells[i] == cell::present ? column.name : (row.cells[i] == cell::lacking ? "-" : "");
      const std::string padded = shown + std::string(width_of(column.name) - width_of(shown), ' ');
      line += "  " + (column.is_culprit && !shown.empty() ? colours.error(padded) : padded);
    }
    lines.push_back(ended(line));
  }
  std::string marks(12, ' ');
  bool any = false;
  for (const auto& column : grid.columns) {
    marks += "  " + std::string(width_of(column.name), column.is_culprit ? '^' : ' ');
    any = any || column.is_culprit;
  }
  if (any) { lines.push_back(ended(marks)); }
  return lines;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& one : lines) { text += one + "\n"; }
  return text;
}

inline std::string in_words(const found_error& found, const palette& colours) {
  error_type error(found.printed, found.called);
  std::string text = colours.bold(found.place.text()) + " " + colours.error("error:") + " " +
                     colours.bold(error.message().first) + " (" + error.rule_name() + ")\n";
  text += joined(found.source) + joined(table(error.grid(), colours));
  if (error.known() != nullptr) {
    for (const std::string& one : wrapped("  fix: ", error.known()->fix.words)) { text += colours.fix(one) + "\n"; }
  }
  return text + "  " + error.name() + "\n";
}

// --- JSON, for other programs

inline std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    char code[8];
    std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    if (static_cast<unsigned char>(c) < 0x20) {
      out += code;
    } else {
      out += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
    }
  }
  return out + "\"";
}
template <class List, class Show>
std::string json_list(const List& list, const Show& show) {
  std::string out;
  for (const auto& one : list) { out += (out.empty() ? "" : ", ") + show(one); }
  return "[" + out + "]";
}
inline std::string json_list(const messages::texts& list) {
  return json_list(std::span(list.items, static_cast<std::size_t>(list.count)),
                   [](const char* one) { return json_text(one); });
}
inline const char* word_of(cell one) {
  switch (one) {
    case cell::present:
      return "\"present\"";
    case cell::lacking:
      return "\"lacking\"";
    case cell::absent:
      return "\"absent\"";
  }
  return "\"absent\"";
}

inline std::string as_json(const found_error& found, std::size_t first_line) {
  error_type error(found.printed, found.called);
  const auto [message, is_pattern] = error.message();
  const shape_grid grid = error.grid();
  const auto text = [](const std::string& one) { return json_text(one); };
  return "{\"input_line\": " + std::to_string(first_line) + ", \"id\": " + json_text(error.name()) +
         ", \"rule\": " + json_text(error.rule_name()) + ", \"message\": " + json_text(message) +
         ", \"is_pattern\": " + (is_pattern ? "true" : "false") + ", \"file\": " + json_text(found.place.file) +
         ", \"line\": " + std::to_string(found.place.line) +
         ", \"column\": " + (found.place.column.empty() ? "0" : found.place.column) +
         ", \"operation\": " + json_text(error.operation()) +
         ", \"dimensions\": " + json_list(error.dimensions(), text) + ", \"columns\": " +
         json_list(grid.columns,
                   [](const auto& one) {
    return "{\"name\": " + json_text(one.name) + ", \"culprit\": " + (one.is_culprit ? "true" : "false") +
           ", \"mark\": " + (one.is_mark ? "true}" : "false}");
  }) + ", \"rows\": " +
         json_list(grid.rows,
                   [](const auto& row) {
    return "{\"label\": " + json_text(row.label) +
           ", \"cells\": " + json_list(row.cells, [](cell one) { return std::string(word_of(one)); }) + "}";
  }) +
         ", \"table\": " + json_list(table(grid, palette(false)), text) +
         ", \"causes\": " + (error.known() == nullptr ? "[]" : json_list(error.known()->causes)) +
         ", \"fix\": " + (error.known() == nullptr ? "\"\"" : json_text(error.known()->fix.words)) + "}\n";
}

}  // namespace programs
