// SPDX-License-Identifier: BSL-1.0
// dimwise/support/files/file_draft.hpp -- atomic file writes: a temporary file is renamed when it is complete.
//
// Layer: support. POSIX: open, flock, rename. Each writer of a file has its own temporary file. The caller provides the
// function that throws.
// Tests: tests/io/new_file.test.cpp
#pragma once

#include <dimwise/support/library.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace dimwise::detail {

// The temporary file for `path`, in the same directory and exclusive to this writer. For a symbolic link it replaces
// the target. An existing file passes on its permissions. Rejects a target that is not a regular file.
class file_draft {
 public:
  // Throws the caller's exception; `who` names the writer.
  using refusal = void (*)(const char* who, const std::string& text);
  file_draft(std::filesystem::path path, refusal refused, const char* who = "");
  file_draft(const file_draft&) = delete;
  file_draft& operator=(const file_draft&) = delete;
  ~file_draft();

  [[nodiscard]] const std::filesystem::path& name() const { return name_; }
  // Renames the temporary file to the target and replaces an existing file.
  void place();
  [[noreturn]] void refuse(const std::string& reason) const;
  [[noreturn]] void refuse(int reason) const;

 private:
  static constexpr std::string_view ending = ".partial";
  static long process();

  // Temporary names are longer than the file's name, and a name has at most 255 bytes. Does not cut within a UTF-8
  // character.
  static std::string cut_name(std::string name);
  void follow_links();

  // "beginning<process>-<number>.partial", and the name that libzip writes to: ".partial.<six letters>".
  static std::string_view draft_in(std::string_view file, std::string_view beginning);
  // Removes temporary files of killed writers: unlocked, and not modified for a minute.
  void remove_left_over(const std::string& beginning) const;

  std::filesystem::path path_;
  refusal refused_;
  const char* who_;
  std::filesystem::path name_{};
  mode_t mode_ = 0;
  int file_ = -1;
  bool placed_ = false;
};

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/support/files/file_draft_definitions.hpp>
#endif
