// SPDX-License-Identifier: BSL-1.0
// examples/support/mistakes.hpp -- compiles wrong programs with the compiler that built this one, and prints its
// output.
//
// A file of examples/mistakes has the mistake, the expected error, and the wrong and corrected line.
#pragma once

#include <cstdio>
#include <exception>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <sys/wait.h>

namespace examples {

// A wrong program: the mistake, the expected error, the wrong and the corrected line.
struct mistake {
  std::string what, expected, wrong, right;
  int line = 0;
};

inline mistake read(const std::string& file) {
  std::ifstream source(DIMWISE_EXAMPLES_DIR "/" + file);
  if (!source) { throw std::runtime_error("no such file: examples/" + file); }
  mistake m;
  std::string text;
  std::string* part = nullptr;
  for (int number = 1; std::getline(source, text); ++number) {
    if (text.rfind("// MISTAKE: ", 0) == 0) { m.what = text.substr(12); }
    if (text.rfind("// EXPECT: ", 0) == 0) { m.expected = text.substr(11); }
    if (text[0] == '#') {
      part = text == "#ifdef FIXED" ? &m.right : text == "#else" ? &m.wrong : nullptr;
    } else if (part != nullptr) {
      *part += text + "\n";
      if (part == &m.wrong) { m.line = number; }
    }
  }
  return m;
}

struct verdict {
  bool compiles;
  std::string output;
};

inline verdict compile(const std::string& file, const char* options) {
  const std::string command = "cd '" DIMWISE_EXAMPLES_DIR "' && '" DIMWISE_CXX_COMPILER
                              "' -std=c++20 -fsyntax-only " DIMWISE_COMPILE_FLAGS " -I'" DIMWISE_INCLUDE_DIR "' " +
                              std::string(options) + " " + file + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) { throw std::runtime_error("cannot run the compiler"); }
  verdict v{false, ""};
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof(buffer), pipe)) { v.output.append(buffer, n); }
  const int status = pclose(pipe);
  v.compiles = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return v;
}

inline bool show(const std::string& file) {
  const mistake m = read(file);
  std::printf("Mistake: %s\n\n%s, line %d:\n%s\n", m.what.c_str(), file.c_str(), m.line, m.wrong.c_str());
  const verdict wrong = compile(file, "");
  std::printf("%s\nCorrected:\n%s\n", wrong.output.c_str(), m.right.c_str());
  const bool refused = !wrong.compiles && wrong.output.find(m.expected) != std::string::npos;
  const verdict right = compile(file, "-DFIXED");
  if (!refused) { std::printf("THE MISTAKE WAS NOT REFUSED BY %s\n", m.expected.c_str()); }
  if (!right.compiles) { std::printf("THE CORRECTED PROGRAM DOES NOT COMPILE\n%s", right.output.c_str()); }
  std::printf("----------------------------------------------------------------------\n");
  return refused && right.compiles;
}

/// Shows every file. Returns the exit code: 0 if each mistake is an error and each corrected program compiles.
inline int show_all(std::initializer_list<const char*> names) try {
  bool all = true;
  for (const char* name : names) { all = show("mistakes/" + std::string(name) + ".cpp") && all; }
  std::printf("%s\n",
              all ? "Each mistake is an error, each corrected program compiles." : "SOMETHING IS WRONG, see above.");
  return all ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}

}  // namespace examples
