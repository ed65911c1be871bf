// tests/support/texts.hpp -- what a text contains.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>

namespace dimwise_test {

/// Whether `part` is in the text.
inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// How often `part` is in the text.
inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) { ++n; }
  return n;
}

}  // namespace dimwise_test
