// tests/conformance/suite.hpp -- a folder with a manifest.json, or the same packed into one file.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "case.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <set>

namespace conformance {

/// The elements and extents of a .npy file (format 1.0, C order, little-endian). Header and file size are checked
/// before anything is read from them; throws `std::runtime_error` that names the file and what was expected.
[[nodiscard]] array read_npy(const std::string& file);

/// A suite: its manifest, the arrays that the entries of it point to, and the bytes of its other files.
struct suite {
  nlohmann::json manifest;
  std::function<array(const nlohmann::json& entry)> load;
  std::function<array(const std::string& path)> file;
};

/// Throws `std::runtime_error` that names the file and what was expected.
[[nodiscard]] suite open_suite(const std::string& folder_or_pack);

/// What one case must be compared with, and what differed so far.
struct run::state {
  const suite& from;
  const nlohmann::json& entry;
  std::string name;
  std::map<std::string, array> read;
  std::set<std::string> compared;
  std::vector<std::string> differences;
};

/// One case, by whatever plans run now. Returns what differed, a line each. Throws `skip`.
[[nodiscard]] std::vector<std::string> run_case(const suite& from, const nlohmann::json& entry);

}  // namespace conformance
