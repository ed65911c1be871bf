// SPDX-License-Identifier: BSL-1.0
// dimwise/io/files/new_file.hpp -- atomic file writes that throw `file_error` (support/file_draft.hpp).
//
// Layer: io.
// Tests: tests/io/new_file.test.cpp
//
//   new_file file("model.safetensors");
//   file.write(bytes);
//   file.finish();
#pragma once

#include <dimwise/io/files/error.hpp>
#include <dimwise/support/file_draft.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace dimwise::io {

namespace detail {

inline void throw_file_error(const char*, const std::string& text) { throw file_error(text); }

}  // namespace detail

/// Writes a file atomically: writes a temporary file in the same directory and renames it when it is complete.
class new_file {
 public:
  /// Opens a temporary file, and removes those that killed programs left. Throws `file_error` if it cannot be written,
  /// or if the target is not a regular file.
  explicit new_file(std::filesystem::path path)
      : draft_(std::move(path), detail::throw_file_error), file_(std::fopen(draft_.name().c_str(), "wb")) {
    if (file_ == nullptr) { draft_.refuse(errno); }
  }

  /// Appends bytes; throws `file_error` if the write fails.
  void write(std::span<const std::byte> bytes) {
    if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
      draft_.refuse(errno);
    }
  }
  /// Renames the temporary file to the target; replaces an existing file and keeps its permissions.
  void finish() {
    if (std::fclose(file_.release()) != 0) { draft_.refuse(errno); }
    draft_.place();
  }

 private:
  struct close {
    void operator()(std::FILE* f) const { (void)std::fclose(f); }
  };

  detail::file_draft draft_;
  std::unique_ptr<std::FILE, close> file_;
};

}  // namespace dimwise::io
