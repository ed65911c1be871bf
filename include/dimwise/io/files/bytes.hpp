// SPDX-License-Identifier: BSL-1.0
// dimwise/io/files/bytes.hpp -- the bytes of a file, mapped or read into memory.
//
// Layer: io. POSIX: mmap. A mapped file needs no memory of its own, but truncating it while it is mapped terminates the
// program by a signal: use `read` for files that others write to. WASI has no mmap: every file is read there.
// Tests: tests/io/file_bytes.test.cpp
//
//   const file_bytes file("model.safetensors");          file.bytes()
//   const file_bytes copy("model.safetensors", file_access::read);
#pragma once

#include <dimwise/io/files/error.hpp>
#include <dimwise/support/library.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <unistd.h>
#if !defined(__wasi__)  // the header of WASI is an error
#include <sys/mman.h>
#endif

namespace dimwise::io {

/// How a file is brought into memory.
enum class file_access : unsigned char { mapped, read };

/// The bytes of one file. Throws `file_error` if it is not a regular file, or cannot be opened, mapped or read.
class file_bytes {
 public:
  /// Opens the file; throws `file_error` if it cannot be read or is not a regular file.
  explicit file_bytes(std::filesystem::path path, file_access how = file_access::mapped);

  /// The content, valid during the lifetime of this object.
  [[nodiscard]] std::span<const std::byte> bytes() const& { return {memory_.get(), size_}; }
  std::span<const std::byte> bytes() const&& = delete;  // the span would dangle
  /// The path that was opened.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  static constexpr std::align_val_t alignment{64};
#if defined(__wasi__)
  static constexpr bool maps_files = false;
  static std::byte* map(int, std::size_t) { return nullptr; }
  static void unmap(std::byte*, std::size_t) {}
#else
  static constexpr bool maps_files = true;
  static std::byte* map(int file, std::size_t size) {  // a null pointer if it fails
    void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
  }
  static void unmap(std::byte* memory, std::size_t size) { ::munmap(memory, size); }
#endif
  struct descriptor {
    int number;
    explicit descriptor(int n) : number(n) {}
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() {
      if (number >= 0) { ::close(number); }
    }
  };
  struct release {
    std::size_t mapped;  // bytes to unmap; 0 if the memory is owned
    void operator()(std::byte* memory) const {
      if (mapped != 0) {
        unmap(memory, mapped);
      } else {
        ::operator delete[](memory, alignment);
      }
    }
  };

  [[noreturn]] void refuse(const char* what, int reason) const;
  void read_all(int file);

  std::filesystem::path path_;
  std::size_t size_ = 0;
  std::unique_ptr<std::byte, release> memory_{nullptr, release{0}};
};

}  // namespace dimwise::io

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/io/files/bytes_definitions.hpp>
#endif
