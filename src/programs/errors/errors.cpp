// src/programs/errors/errors.cpp -- dimwise-errors: says what the compile errors of dimwise mean.
//
//   g++ -std=c++20 attention.cpp 2>&1 | dimwise-errors
//   dimwise-errors -- g++ -std=c++20 attention.cpp
// SPDX-License-Identifier: BSL-1.0
#include "error_output.hpp"
#include <dimwise/version.hpp>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <stdexcept>
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

bool wants_colours(int stream) {
  const char *no_colour = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
  return isatty(stream) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal == nullptr || std::strcmp(terminal, "dumb") != 0);
}

void print_list() {
  const char* before = "[";
  for (const messages::diagnostic& one : messages::diagnostics) {
    std::printf(
        "%s{\"id\": %s, \"rule\": \"R%d\", \"title\": %s, \"seen\": %s, \"causes\": %s, \"fix\": %s, \"example\": %s}",
        before, json_text(one.id.words).c_str(), one.id.rule, json_text(one.title.words).c_str(),
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
    const auto found = read_error(lines);
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
  // Options of this program come first. A compiler's command begins at the first other argument, or after --.
  int options = 1;
  while (options < argc && argv[options][0] == '-' && std::strcmp(argv[options], "--") != 0) { ++options; }
  char** command = argv + options + (options < argc && argv[options][0] == '-' ? 1 : 0);

  CLI::App app(about, "dimwise-errors");
  app.set_version_flag("--version", "dimwise-errors " + std::to_string(DIMWISE_VERSION_MAJOR) + "." +
                                        std::to_string(DIMWISE_VERSION_MINOR) + "." +
                                        std::to_string(DIMWISE_VERSION_PATCH));
  bool coloured = false, json = false, list = false;
  app.add_flag("--colour,--color", coloured, "colours although the output is not a terminal");
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
    // The flag of the stream includes failures of earlier writes.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw std::runtime_error(std::string("the output cannot be written: ") + std::strerror(errno));
    }
  } catch (const CLI::ParseError& e) { return app.exit(e); } catch (const std::exception& e) {
    std::fprintf(stderr, "dimwise-errors: %s\n", e.what());
    return 1;
  }
  return 0;
}
