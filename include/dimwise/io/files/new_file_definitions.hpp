// SPDX-License-Identifier: BSL-1.0
// dimwise/io/files/new_file_definitions.hpp -- writing files (support/library.hpp).
//
// Layer: io.
#pragma once

#include <dimwise/io/files/new_file.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace dimwise::io::detail {

DIMWISE_DETAIL_LIBRARY void throw_file_error(const char*, const std::string& text) { throw file_error(text); }

}  // namespace dimwise::io::detail

namespace dimwise::io {

DIMWISE_DETAIL_LIBRARY new_file::new_file(std::filesystem::path path)
    : draft_(std::move(path), detail::throw_file_error), file_(std::fopen(draft_.name().c_str(), "wb")) {
  if (file_ == nullptr) { draft_.refuse(errno); }
}

DIMWISE_DETAIL_LIBRARY void new_file::write(std::span<const std::byte> bytes) {
  if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    draft_.refuse(errno);
  }
}

DIMWISE_DETAIL_LIBRARY void new_file::finish() {
  if (std::fclose(file_.release()) != 0) { draft_.refuse(errno); }
  draft_.place();
}

}  // namespace dimwise::io
