// SPDX-License-Identifier: BSL-1.0
// dimwise/io/files/new_file.hpp -- atomic file writes that throw `file_error` (support/files/file_draft.hpp).
//
// Layer: io.
// Tests: tests/io/new_file.test.cpp
//
//   new_file file("model.safetensors");
//   file.write(bytes);
//   file.finish();
#pragma once

#include <dimwise/io/files/error.hpp>
#include <dimwise/support/files/file_draft.hpp>
#include <dimwise/support/library.hpp>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace dimwise::io {

namespace detail {

DIMWISE_DETAIL_LIBRARY void throw_file_error(const char*, const std::string& text);

}  // namespace detail

/// Writes a file atomically: writes a temporary file in the same directory and renames it when it is complete.
class new_file {
 public:
  /// Opens a temporary file, and removes those that killed programs left. Throws `file_error` if it cannot be written,
  /// or if the target is not a regular file.
  explicit new_file(std::filesystem::path path);

  /// Appends bytes; throws `file_error` if the write fails.
  void write(std::span<const std::byte> bytes);
  /// Renames the temporary file to the target; replaces an existing file and keeps its permissions.
  void finish();

 private:
  struct close {
    void operator()(std::FILE* f) const { (void)std::fclose(f); }
  };

  detail::file_draft draft_;
  std::unique_ptr<std::FILE, close> file_;
};

}  // namespace dimwise::io

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/io/files/new_file_definitions.hpp>
#endif
