// SPDX-License-Identifier: BSL-1.0
// dimwise/io/new_file.hpp -- a file that appears whole or not at all: it is written beside its place, and moved there
// when it is complete.
//
// Layer: io. POSIX: open, rename. Several writers of one file do not meet: each has a draft of its own.
// Tests: tests/io/new_file.test.cpp
//
//   new_file file("model.safetensors");
//   file.write(bytes);
//   file.finish();
#pragma once

#include <dimwise/io/file_error.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace dimwise::io {

namespace detail {

// The name of a file that is written in the place of `path`: beside it, and nobody else's. Of a symbolic link the
// target is replaced, and a file that is there hands on its permissions. What is no regular file is refused.
class file_draft {
 public:
  explicit file_draft(std::filesystem::path path) : path_(std::move(path)) {
    follow_links();
    struct stat facts{};
    const bool is_there = ::stat(path_.c_str(), &facts) == 0;
    if (is_there && !S_ISREG(facts.st_mode)) { throw file_error(path_.string() + ": a regular file was expected"); }
    static std::atomic<unsigned long> drafts{0};
    int file = -1;
    do {
      name_ = path_.string() + "." + std::to_string(::getpid()) + "-" + std::to_string(drafts++) + ".partial";
      file = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (file < 0 && errno == EEXIST);
    if (file < 0) { refuse(errno); }
    if (!is_there) { (void)::fstat(file, &facts); }  // as the process makes its files
    mode_ = facts.st_mode & 0777U;
    ::close(file);
    begun_ = true;
  }
  file_draft(const file_draft&) = delete;
  file_draft& operator=(const file_draft&) = delete;
  ~file_draft() {
    if (begun_) { (void)::unlink(name_.c_str()); }
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  // The draft takes the file's name; the old one of that name is gone.
  void place() {
    if (::chmod(name_.c_str(), mode_) != 0 || ::rename(name_.c_str(), path_.c_str()) != 0) { refuse(errno); }
    begun_ = false;
  }
  [[noreturn]] void refuse(const std::string& reason) const {
    throw file_error(path_.string() + ": the file cannot be written: " + reason);
  }
  [[noreturn]] void refuse(int reason) const { refuse(std::strerror(reason)); }

 private:
  void follow_links() {
    std::error_code problem;
    for (int links = 0; std::filesystem::is_symlink(path_, problem); ++links) {
      if (links == 40) { refuse(ELOOP); }  // as many as Linux follows
      path_ = path_.parent_path() / std::filesystem::read_symlink(path_, problem);
    }
  }

  std::filesystem::path path_;
  std::string name_{};
  mode_t mode_ = 0;
  bool begun_ = false;
};

}  // namespace detail

/// Writes a file whole or not at all: it is written beside its place and moved there when it is complete.
class new_file {
 public:
  /// Begins a draft beside the file; throws `file_error` where that cannot be done, and for what is no regular file.
  explicit new_file(std::filesystem::path path)
      : draft_(std::move(path)), file_(std::fopen(draft_.name().c_str(), "wb")) {
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
