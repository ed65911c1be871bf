// SPDX-License-Identifier: BSL-1.0
// dimwise/io/files/bytes_definitions.hpp -- reading and mapping files (support/library.hpp).
//
// Layer: io.
#pragma once

#include <dimwise/io/files/bytes.hpp>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace dimwise::io {

DIMWISE_DETAIL_LIBRARY file_bytes::file_bytes(std::filesystem::path path, file_access how) : path_(std::move(path)) {
  const descriptor file{::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};  // a FIFO does not block
  if (file.number < 0) { refuse("cannot be opened", errno); }
  struct stat facts{};
  if (::fstat(file.number, &facts) != 0) { refuse("cannot be opened", errno); }
  if (!S_ISREG(facts.st_mode)) { throw file_error(path_.string() + ": a regular file was expected"); }
  size_ = static_cast<std::size_t>(facts.st_size);
  if (size_ == 0) { return; }
  if (how == file_access::mapped && maps_files) {
    std::byte* const mapped = map(file.number, size_);
    if (mapped == nullptr) { refuse("cannot be mapped", errno); }
    memory_ = {mapped, release{size_}};
  } else {
    memory_ = {static_cast<std::byte*>(::operator new[](size_, alignment)), release{0}};
    read_all(file.number);
  }
}

DIMWISE_DETAIL_LIBRARY void file_bytes::refuse(const char* what, int reason) const {
  throw file_error(path_.string() + ": the file " + what + ": " + std::strerror(reason));
}

DIMWISE_DETAIL_LIBRARY void file_bytes::read_all(int file) {
  for (std::size_t done = 0; done < size_;) {
    const ssize_t count = ::read(file, memory_.get() + done, size_ - done);
    if (count < 0 && errno == EINTR) { continue; }
    if (count < 0) { refuse("cannot be read", errno); }
    if (count == 0) {
      throw file_error(path_.string() + ": " + std::to_string(size_) + " bytes were expected, the file ends after " +
                       std::to_string(done));
    }
    done += static_cast<std::size_t>(count);
  }
}

}  // namespace dimwise::io
