// src/programs/common.hpp -- error handling, timing, progress and signals of the programs.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/eval/context.hpp>
#include <dimwise/io/config.hpp>
#include <dimwise/support/messages/escaped.hpp>
#include <dimwise/text/unicode.hpp>
#include <dimwise/version.hpp>
#if defined(DIMWISE_PROGRAMS_TBB)
#include <dimwise/eval/tbb.hpp>
#endif

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

namespace programs {

/// Throws an error that the program reports as one line.
[[noreturn]] inline void refuse(const std::string& what) { throw std::runtime_error(what); }

/// A text as JSON, in quotation marks; bytes that are not UTF-8 become U+FFFD.
inline std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// A line on stderr that is overwritten; silent if stderr is not a terminal.
class progress_line {
 public:
  explicit progress_line(bool quiet) : shown_(!quiet && isatty(2) == 1) {}
  ~progress_line() { clear(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  void show(const std::string& text) {
    if (shown_) { std::fprintf(stderr, "\r\x1b[K%s", text.c_str()); }
    begun_ = true;
  }
  void clear() {
    if (shown_ && begun_) { std::fprintf(stderr, "\r\x1b[K"); }
    begun_ = false;
  }

 private:
  bool shown_;
  bool begun_ = false;
};

/// A bar of `done` in `all` with the time that is left, on a line of stderr: only on a terminal, and only if the work
/// takes longer than a second.
class progress_bar {
 public:
  progress_bar(bool quiet, std::string what) : line_(quiet), what_(std::move(what)) {}
  void show(std::size_t done, std::size_t all) {
    const double now = time_.seconds();
    if (now < 1 || now < shown_ + 0.1 || all == 0) { return; }
    shown_ = now;
    constexpr std::size_t width = 24;
    const double part = static_cast<double>(std::min(done, all)) / static_cast<double>(all);
    const auto full = static_cast<std::size_t>(part * width);
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "] %3.0f %%, %.0f s left", part * 100, part > 0 ? now / part - now : 0.0);
    line_.show(what_ + " [" + std::string(full, '#') + std::string(width - full, ' ') + numbers);
  }

 private:
  progress_line line_;
  std::string what_;
  stopwatch time_{};
  double shown_ = -1;
};

/// Sets the number of threads for a block: the requested number, at most the hardware threads.
class with_threads {
 public:
  with_threads(std::size_t count, [[maybe_unused]] bool quiet) {
    if (count > 1) {
#if defined(DIMWISE_PROGRAMS_TBB)
      // oneTBB warns on stderr about larger numbers.
      const auto most = static_cast<std::size_t>(oneapi::tbb::this_task_arena::max_concurrency());
      if (count > most && !quiet) { std::fprintf(stderr, "threads: %zu, the limit of this machine\n", most); }
      pool_.emplace(std::min(count, most));
      context_.emplace(*pool_);
      scope_.emplace(*context_);
#else
      refuse("this program was built without oneTBB, so it has one thread");
#endif
    }
  }

 private:
#if defined(DIMWISE_PROGRAMS_TBB)
  std::optional<dimwise::tbb_executor> pool_;
  std::optional<dimwise::context> context_;
  std::optional<dimwise::use_context> scope_;
#endif
};

/// The folder of a model, which must exist.
inline std::filesystem::path model_folder(const std::string& name) {
  const std::filesystem::path folder(name);
  if (!std::filesystem::is_directory(folder)) { refuse(name + ": not a folder"); }
  if (!std::filesystem::exists(folder / "config.json")) {
    refuse(name + ": has no config.json: a HuggingFace folder was expected");
  }
  return folder;
}

/// The model type in config.json, which must be one of these.
inline std::string model_kind(const std::filesystem::path& folder, std::initializer_list<const char*> known) {
  dimwise::io::config_check config(folder / "config.json");
  std::string kind = config.word("model_type", "");
  config.finish();
  std::string expected;
  for (const char* one : known) {
    if (kind == one) { return kind; }
    expected += (expected.empty() ? "" : " or ") + std::string(one);
  }
  refuse(config.title() + ": model_type is \"" + kind.substr(0, 60) + "\", " + expected + " was expected");
}

/// A validator for numbers from `least` to `most`, described by `what`. CLI11 itself accepts -1 as 2^64 - 1 and NaN in
/// any range, truncates numbers that are too large, and prints a range with 309 digits.
template <class Number>
CLI::Validator numbers_in(Number least, Number most, const std::string& what) {
  const auto check = [=](const std::string& text) -> std::string {
    Number n{};
    const char* const end = text.data() + text.size();
    const auto [last, wrong] = std::from_chars(text.data(), end, n);
    return wrong == std::errc() && last == end && n >= least && n <= most ? "" : text + " is not " + what;
  };
  return {check, what};
}
inline CLI::Validator whole_numbers(std::int64_t least, const std::string& what) {
  return numbers_in(least, std::numeric_limits<std::int64_t>::max(), what);
}

/// The text of a file.
inline std::string read_text(const std::string& name) {
  if (name.empty()) { refuse("the name of a file was expected, it is empty"); }
  std::ifstream file(name, std::ios::binary);
  std::string text;
  char part[65536];
  while (file.read(part, sizeof part) || file.gcount() > 0) {
    text.append(part, static_cast<std::size_t>(file.gcount()));
  }
  // A folder can be opened, but not read.
  if (!file.eof()) { refuse(name + ": cannot be read"); }
  return text;
}

/// The lines of a file, or of standard input if its name is `-`, without those that hold only spaces.
inline std::vector<std::string> lines_of(const std::string& name) {
  const bool given = name == "-";
  std::istringstream file(given ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : read_text(name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) { line.pop_back(); }
    if (line.find_first_not_of(" \t\r") != std::string::npos) { lines.push_back(line); }
  }
  if (lines.empty()) { refuse((given ? "standard input" : name) + ": has no line with text"); }
  return lines;
}

/// Requires valid UTF-8: a tokenizer would replace invalid bytes by U+FFFD.
inline void expect_utf8(const std::string& text, const std::string& name) {
  if (const auto at = dimwise::text::first_invalid_utf8(text)) {
    refuse(name + " is not UTF-8 at byte " + std::to_string(*at) + ", counted from 0");
  }
}

/// Flushes the output and checks for errors such as a full disk.
inline void finish_output() {
  const bool failed_before = std::ferror(stdout) != 0;
  if (std::fflush(stdout) != 0) { refuse(std::string("the output cannot be written: ") + std::strerror(errno)); }
  if (failed_before) { refuse("the output cannot be written"); }
}

/// Adds the option `--version`.
inline void add_version(CLI::App& app) {
  app.set_version_flag("--version", app.get_name() + " " + std::to_string(DIMWISE_VERSION_MAJOR) + "." +
                                        std::to_string(DIMWISE_VERSION_MINOR) + "." +
                                        std::to_string(DIMWISE_VERSION_PATCH));
}
/// Checked first, because the next opened file would get the descriptor.
inline void expect_output() {
  if (fcntl(STDOUT_FILENO, F_GETFD) == -1) { refuse("the output cannot be written: stdout is closed"); }
}
/// Reports an error under the name of the program.
inline void print_error(const CLI::App& app, const char* what) {
  std::string shown;  // names in files and of files may hold anything
  dimwise::detail::say_escaped(what, std::strlen(what), [&](char c) { shown += c; });
  std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), shown.c_str());
}

/// Runs a program and reports its errors under its name. Exit codes: 0 done, 1 error, above 100 invalid options, 130
/// interrupted.
template <class Run>
int guarded(CLI::App& app, int argc, char** argv, const Run& run) {
  add_version(app);
  try {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      const int code = app.exit(e);  // prints, where --help was asked for
      finish_output();
      return code;
    }
    expect_output();
    const int code = run();
    finish_output();
    return code;
  } catch (const std::exception& e) {
    print_error(app, e.what());
    return 1;
  }
}

}  // namespace programs
