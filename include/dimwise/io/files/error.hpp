// SPDX-License-Identifier: BSL-1.0
// dimwise/io/files/error.hpp -- the exception for invalid files, which lists all mistakes at once.
//
// Layer: io.
// Tests: tests/io/safetensors.test.cpp
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/support/library.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace dimwise::io {

/// A file that cannot be read, is malformed, or does not match the model. `what()` begins with the file's name and
/// lists each mistake on its own line.
class file_error : public error {
 public:
  /// Constructs the error with a text of any length. Escapes control characters and bidirectional controls; keeps line
  /// breaks.
  explicit file_error(const std::string& text);
  [[nodiscard]] const char* what() const noexcept override { return text_->c_str(); }

 private:
  static std::string escaped(const std::string& text);

  std::shared_ptr<const std::string> text_;  // copying an exception must not throw
};

namespace detail {

using namespace dimwise::detail;

// Names in files are untrusted bytes: messages show them shortened, with the escapes of JSON.
DIMWISE_DETAIL_LIBRARY std::string printable(std::string_view name, std::size_t longest = 120);

// Extents in files are untrusted as well; there may be a million of them.
template <class Extents>
std::string listed(const Extents& extents) {
  constexpr std::size_t longest = 16;
  std::string text = "[";
  std::size_t shown = 0;
  for (const auto n : extents) {
    if (shown++ == longest) {
      text += ", and " + std::to_string(extents.size() - longest) + " more";
      break;
    }
    text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  }
  return text + "]";
}

}  // namespace detail
}  // namespace dimwise::io

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/io/files/error_definitions.hpp>
#endif
