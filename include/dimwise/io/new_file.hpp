// SPDX-License-Identifier: BSL-1.0
// dimwise/io/new_file.hpp -- bytes written to a file that appears whole or not at all (support/file_draft.hpp).
//
// Layer: io.
// Tests: tests/io/new_file.test.cpp
//
//   new_file file("model.safetensors");
//   file.write(bytes);
//   file.finish();
#pragma once

#include <dimwise/io/file_error.hpp>
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

/// Writes a file whole or not at all: it is written beside its place and moved there when it is complete.
class new_file {
 public:
  /// Begins a draft beside the file, and removes drafts of it that killed programs left. Throws `file_error` where it
  /// cannot be written, and for what is no regular file.
  explicit new_file(std::filesystem::path path)
      : draft_(std::move(path), detail::throw_file_error), file_(std::fopen(draft_.name().c_str(), "wb")) {
    if (file_ == nullptr) { draft_.refuse(errno); }
  }

  /// Adds bytes; throws `file_error` where there is no room.
  void write(std::span<const std::byte> bytes) {
    if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
      draft_.refuse(errno);
    }
  }
  /// The file takes its name; the old one of that name is gone, and its permissions stay.
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
