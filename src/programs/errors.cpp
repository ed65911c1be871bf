// src/programs/errors.cpp -- dimwise-errors: says what the compile errors of dimwise mean.
//
//   g++ -std=c++20 attention.cpp 2>&1 | dimwise-errors
//   dimwise-errors -- g++ -std=c++20 attention.cpp
// SPDX-License-Identifier: BSL-1.0
#include "compiler_output.hpp"
#include "error_shapes.hpp"
#include <dimwise/version.hpp>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace {

using namespace programs;

constexpr const char* about =
    "Compile errors of dimwise in words: reads what a compiler prints, and says what its errors mean.\n\n"
    "  g++ -std=c++20 attention.cpp 2>&1 | dimwise-errors     reads a compiler's output\n"
    "  dimwise-errors -- g++ -std=c++20 attention.cpp         runs the compiler; ends with its exit code\n"
    "  cmake -DCMAKE_CXX_COMPILER_LAUNCHER=dimwise-errors ... the same for a whole build\n\n"
    "Each error of dimwise becomes its message with the names of the program, the line, the shapes below one another "
    "with\n"
    "the culprit marked, and the fix. All other text passes as it is. Colours appear on a terminal, unless NO_COLOR is "
    "set.";

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

bool wants_colours(int stream) {
  const char *no_colour = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
  return isatty(stream) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal == nullptr || std::strcmp(terminal, "dumb") != 0);
}

/// An error of dimwise among the diagnostics of a compiler.
struct found_error {
  source_place place;               // in the program, not in the library
  std::vector<std::string> source;  // the program's line, and what marks a part of it
  std::string printed;              // begins with the error's type
  std::string called;               // what the program's line calls, empty where it marks nothing
};

/// The error that a diagnostic names with most facts; nothing where it is none of dimwise.
std::optional<found_error> read(const std::vector<std::string>& raw) {
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
std::vector<std::string> wrapped(const std::string& first, const std::string& text) {
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
std::vector<std::string> table(const shape_grid& grid, const palette& colours) {
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

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& one : lines) { text += one + "\n"; }
  return text;
}

std::string in_words(const found_error& found, const palette& colours) {
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

std::string json_text(std::string_view text) {
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
std::string json_list(const messages::texts& list) {
  return json_list(std::span(list.items, static_cast<std::size_t>(list.count)),
                   [](const char* one) { return json_text(one); });
}
const char* word_of(cell one) {
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

std::string as_json(const found_error& found, std::size_t first_line) {
  error_type error(found.printed, found.called);
  const auto [message, is_pattern] = error.message();
  const shape_grid grid = error.grid();
  const auto text = [](const std::string& one) { return json_text(one); };
  return "{\"input_line\": " + std::to_string(first_line) + ", \"id\": " + json_text(error.name()) +
         ", \"rule\": " + json_text(error.rule_name()) + ", \"message\": " + json_text(message) +
         ", \"is_pattern\": " + (is_pattern ? "true" : "false") + ", \"file\": " + json_text(found.place.file) +
         ", \"line\": " + std::to_string(found.place.line) + ", \"operation\": " + json_text(error.operation()) +
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
         ", \"table\": " + json_list(table(grid, palette(false)), text) + "}\n";
}

void print_list() {
  const char* before = "[";
  for (const messages::diagnostic& one : messages::diagnostics) {
    std::printf(
        "%s{\"id\": %s, \"rule\": \"R%d\", \"title\": %s, \"seen\": %s, \"causes\": %s, \"fix\": %s, \"example\": %s}",
        before, json_text(one.id.words).c_str(), one.rule.number, json_text(one.title.words).c_str(),
        json_list(one.seen).c_str(), json_list(one.causes).c_str(), json_text(one.fix.words).c_str(),
        json_text(one.example.words).c_str());
    before = ",\n ";
  }
  std::printf("]\n");
}

// --- streams and programs

void write(std::FILE* target, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), target);
  std::fflush(target);
}

/// Everything that comes from a stream, with the errors of dimwise in words or, without all else, as JSON.
void pass_on(std::FILE* from, std::FILE* to, bool json, bool coloured) {
  const palette colours(coloured || wants_colours(fileno(to)));
  diagnostic_reader reader([&](const std::vector<std::string>& lines, std::size_t first) {
    const auto found = read(lines);
    if (found && json) { write(to, as_json(*found, first)); }
    if (found && !json) { write(to, in_words(*found, colours)); }
    for (const std::string& one : lines) {
      if (!found && !json) { write(to, one); }
    }
  }, [&](const std::string& line) {
    if (!json) { write(to, line); }
  });
  char* line = nullptr;
  std::size_t room = 0;
  for (ssize_t size = getline(&line, &room, from); size >= 0; size = getline(&line, &room, from)) {
    reader.line(std::string(line, static_cast<std::size_t>(size)));
  }
  std::free(line);
  reader.end();
}

/// Runs a compiler and reads its stderr. -> its exit code; 127 if it cannot be started, 128 and the signal if one ended
/// it
int run_compiler(char** command, bool json, bool coloured) {
  int ends[2];
  if (pipe(ends) != 0) { throw std::runtime_error(std::strerror(errno)); }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  pid_t compiler = 0;
  const int problem = posix_spawnp(&compiler, command[0], &actions, nullptr, command, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (problem != 0) {
    std::fprintf(stderr, "dimwise-errors: %s: %s\n", command[0], std::strerror(problem));
    return 127;
  }
  std::signal(SIGINT, SIG_IGN);  // the compiler hears it, and ends; then what it printed is complete
  std::FILE* said = fdopen(ends[0], "rb");
  pass_on(said, stderr, json, coloured);
  std::fclose(said);
  int status = 0;
  while (waitpid(compiler, &status, 0) < 0 && errno == EINTR) {}
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

int main(int argc, char** argv) {
  // Options of this program come first. A compiler's command begins at the first argument that is none, or after --.
  int options = 1;
  while (options < argc && argv[options][0] == '-' && std::strcmp(argv[options], "--") != 0) { ++options; }
  char** command = argv + options + (options < argc && argv[options][0] == '-' ? 1 : 0);

  CLI::App app(about, "dimwise-errors");
  app.set_version_flag("--version", "dimwise-errors " + std::to_string(DIMWISE_VERSION_MAJOR) + "." +
                                        std::to_string(DIMWISE_VERSION_MINOR) + "." +
                                        std::to_string(DIMWISE_VERSION_PATCH));
  bool coloured = false, json = false, list = false;
  app.add_flag("--colour,--color", coloured, "colours although the output is no terminal");
  app.add_flag("--json", json, "write each error of dimwise as a JSON object on a line, and no other text");
  app.add_flag("--list", list, "write the table of all errors as JSON");
  try {
    app.parse(options, argv);
    if (list) {
      print_list();
    } else if (*command != nullptr) {
      return run_compiler(command, json, coloured);
    } else {
      pass_on(stdin, stdout, json, coloured);
    }
  } catch (const CLI::ParseError& e) { return app.exit(e); } catch (const std::exception& e) {
    std::fprintf(stderr, "dimwise-errors: %s\n", e.what());
    return 1;
  }
  return 0;
}
