// SPDX-License-Identifier: BSL-1.0
// examples/support/file.hpp -- the bytes of a file, for the programs within pages.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace examples {

/// The bytes of a file; none where there is no such file.
[[nodiscard]] inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace examples
