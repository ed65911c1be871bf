// SPDX-License-Identifier: BSL-1.0
// examples/support/file.hpp -- reads the bytes of a file, for the WebAssembly programs of pages.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace examples {

/// The bytes of a file; empty if it does not exist.
[[nodiscard]] inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace examples
