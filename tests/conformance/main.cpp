// tests/conformance/main.cpp -- runs every case of the folders given, and says what differs.
//
//   conformance [--only WORD] FOLDER...     FOLDER: with a manifest.json, or a .dwpack file
//
// Every case runs twice, by the fast plans and by the scalar path. The last line is "N passed, N failed, N skipped";
// the exit code is 0 only without failures.
// SPDX-License-Identifier: BSL-1.0
#include "suite.hpp"

#include <iostream>

namespace {

using namespace conformance;

struct totals {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t skipped = 0;
};

std::vector<std::string> both_ways(const suite& from, const nlohmann::json& entry) {
  std::vector<std::string> differences = run_case(from, entry);
  for (std::string& line : differences) { line += " [fast]"; }
  const dimwise::plain_loops only;
  for (const std::string& line : run_case(from, entry)) { differences.push_back(line + " [plain]"); }
  return differences;
}

void run_suite(const std::string& path, const std::string& only, totals& all) {
  const suite from = open_suite(path);
  const std::string title = from.manifest.value("suite", path);
  for (const auto& entry : from.manifest.at("cases")) {
    const std::string name = entry.at("name");
    if (name.find(only) == std::string::npos) { continue; }
    try {
      const auto differences = both_ways(from, entry);
      for (const std::string& line : differences) {
        std::cout << "FAILED " << title << "/" << name << ": " << line << '\n';
      }
      ++(differences.empty() ? all.passed : all.failed);
    } catch (const skip& reason) {
      std::cout << "SKIPPED " << title << "/" << name << ": " << reason.what() << '\n';
      ++all.skipped;
    }
  }
}

}  // namespace

int main(int count, char** words) {
  std::vector<std::string> paths(words + 1, words + count);
  std::string only;
  if (paths.size() > 1 && paths.front() == "--only") {
    only = paths[1];
    paths.erase(paths.begin(), paths.begin() + 2);
  }
  if (paths.empty()) {
    std::cerr << "usage: conformance [--only WORD] FOLDER...\n";
    return 2;
  }
  totals all;
  for (const std::string& path : paths) {
    try {
      run_suite(path, only, all);
    } catch (const std::exception& problem) {
      std::cout << "FAILED " << path << ": " << problem.what() << '\n';
      ++all.failed;
    }
  }
  std::cout << all.passed << " passed, " << all.failed << " failed, " << all.skipped << " skipped\n";
  return all.failed == 0 ? 0 : 1;
}
