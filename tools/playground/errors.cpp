// SPDX-License-Identifier: BSL-1.0
// playground/errors.cpp -- the filter of the playground: reads what the compiler prints from stdin, and writes each
// diagnostic as a JSON object on a line.
//
// An error of dimwise is written as by `dimwise-errors --json`, with "kind": "dimwise". Another diagnostic has the kind
// "error" or "warning", its place and its message.
#include "../../src/programs/errors/error_output.hpp"

#include <iostream>

namespace {

using namespace programs;

void write_other(const std::vector<std::string>& raw) {
  std::optional<source_place> place;
  std::string message, notes;
  for (const std::string& one : raw) {
    const std::string line = without_colours(one);
    if (const auto head = head_of(line); head && !place) {
      place = head;
      message = line.substr(line.find(": " + head->kind + ": ") + head->kind.size() + 4);
    } else if (const auto asking = asking_place(line); asking && place && place->is_of_library()) {
      place->file = asking->file;
      place->line = asking->line;
      place->column = asking->column;
    }
    if (is_note(line)) { notes += line + "\n"; }
  }
  if (!place) { return; }
  const std::string kind = place->kind == "warning" ? "warning" : "error";
  std::cout << "{\"kind\": " << json_text(kind) << ", \"file\": " << json_text(place->file)
            << ", \"line\": " << place->line << ", \"column\": " << (place->column.empty() ? "0" : place->column)
            << ", \"message\": " << json_text(message) << ", \"notes\": " << json_text(notes) << "}\n";
}

}  // namespace

int main() {
  diagnostic_reader reader([](const std::vector<std::string>& lines, std::size_t first) {
    if (const auto found = read_error(lines)) {
      std::cout << "{\"kind\": \"dimwise\", " << as_json(*found, first).substr(1);
    } else {
      write_other(lines);
    }
  }, [](const std::string&) {});
  for (std::string line; std::getline(std::cin, line);) { reader.line(line + "\n"); }
  reader.end();
}
