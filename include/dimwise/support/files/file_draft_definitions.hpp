// SPDX-License-Identifier: BSL-1.0
// dimwise/support/files/file_draft_definitions.hpp -- atomic file writes (support/library.hpp).
//
// Layer: support.
#pragma once

#include <dimwise/support/files/file_draft.hpp>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY file_draft::file_draft(std::filesystem::path path, refusal refused, const char* who)
    : path_(std::move(path)), refused_(refused), who_(who) {
  follow_links();
  struct stat facts{};
  const bool is_there = ::stat(path_.c_str(), &facts) == 0;
  if (is_there && !S_ISREG(facts.st_mode)) { refused_(who_, path_.string() + ": a regular file was expected"); }
  const std::string beginning = cut_name(path_.filename().string()) + ".";
  remove_left_over(beginning);
  static std::atomic<unsigned long> drafts{0};
  do {
    // No `/`: after dimwise.hpp, g++ 12 looks for operators of this library first.
    name_ = path_.parent_path().append(beginning + std::to_string(process()) + "-" + std::to_string(drafts++) +
                                       std::string(ending));
    file_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ < 0) { refuse(errno); }
  (void)::flock(file_, LOCK_EX | LOCK_NB);          // held while the writer lives: see `remove_left_over`
  if (!is_there) { (void)::fstat(file_, &facts); }  // the default permissions of the process
  mode_ = facts.st_mode & 0777U;
}

DIMWISE_DETAIL_LIBRARY file_draft::~file_draft() {
  if (file_ < 0) { return; }
  if (!placed_) { (void)::unlink(name_.c_str()); }
  ::close(file_);
}

DIMWISE_DETAIL_LIBRARY void file_draft::place() {
  if (::chmod(name_.c_str(), mode_) != 0 || ::rename(name_.c_str(), path_.c_str()) != 0) { refuse(errno); }
  placed_ = true;
}

DIMWISE_DETAIL_LIBRARY void file_draft::refuse(const std::string& reason) const {
  refused_(who_, path_.string() + ": the file cannot be written: " + reason);
  std::abort();
}

DIMWISE_DETAIL_LIBRARY void file_draft::refuse(int reason) const { refuse(std::strerror(reason)); }

DIMWISE_DETAIL_LIBRARY long file_draft::process() {
#if defined(__wasi__)  // a program has no other process beside it
  return 0;
#else
  return ::getpid();
#endif
}

DIMWISE_DETAIL_LIBRARY std::string file_draft::cut_name(std::string name) {
  constexpr std::size_t longest = 128;
  if (name.size() <= longest) { return name; }
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) { --end; }
  name.resize(end);
  return name;
}

DIMWISE_DETAIL_LIBRARY void file_draft::follow_links() {
  std::error_code problem;
  for (int links = 0; std::filesystem::is_symlink(path_, problem); ++links) {
    if (links == 40) { refuse(ELOOP); }  // the limit of Linux
    path_ = path_.parent_path().append(std::filesystem::read_symlink(path_, problem).native());
  }
}

DIMWISE_DETAIL_LIBRARY std::string_view file_draft::draft_in(std::string_view file, std::string_view beginning) {
  const auto number_from = [&](std::size_t at) {
    const std::size_t end = file.find_first_not_of("0123456789", at);
    return end == at ? std::string_view::npos : end;
  };
  if (!file.starts_with(beginning)) { return {}; }
  std::size_t end = number_from(beginning.size());
  if (end == std::string_view::npos || file[end] != '-') { return {}; }
  end = number_from(end + 1);
  if (end == std::string_view::npos || !file.substr(end).starts_with(ending)) { return {}; }
  const std::string_view draft = file.substr(0, end + ending.size());
  const std::string_view rest = file.substr(draft.size());
  return rest.empty() || (rest.size() == 7 && rest[0] == '.') ? draft : std::string_view{};
}

DIMWISE_DETAIL_LIBRARY void file_draft::remove_left_over(const std::string& beginning) const {
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  // Not std::filesystem's iterator, which terminates the program if an allocation fails.
  const std::unique_ptr<DIR, int (*)(DIR*)> files(::opendir(folder.c_str()), ::closedir);
  if (files == nullptr) { return; }
  while (const dirent* const file = ::readdir(files.get())) {
    const std::string_view draft = draft_in(file->d_name, beginning);
    if (draft.empty()) { continue; }
    const std::filesystem::path path = std::filesystem::path(folder).append(file->d_name);
    struct stat facts{};
    if (::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) || ::time(nullptr) - facts.st_mtime < 60) {
      continue;
    }
    const int other =
        ::open(std::filesystem::path(folder).append(draft).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (other < 0 ? errno == ENOENT : ::flock(other, LOCK_EX | LOCK_NB) == 0) { (void)::unlink(path.c_str()); }
    if (other >= 0) { ::close(other); }
  }
}

}  // namespace dimwise::detail
