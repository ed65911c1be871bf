// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/large_pages.hpp -- blocks of memory from the system, large ones in large pages.
//
// Layer: tensor. POSIX: mmap, and Linux's madvise, where they are.
// A page of 4 KB is where a processor's prefetchers end, and a table of such pages for the weights of a model is larger
// than what a processor keeps of it: reading 256 MB takes 1.3 to 1.9 times as long as in pages of 2 MB (Zen 4). Linux
// gives these where a program requests them, on the first write, and small ones where it has none.
// Tests: tests/tensor/storage.test.cpp
#pragma once

#include <dimwise/support/library.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace dimwise::detail {

inline constexpr std::size_t alignment = 64;
inline constexpr std::size_t large_page = std::size_t{1} << 21;

// Under the address sanitizer nothing is kept: memory that was given back must be seen to be gone.
#if defined(__SANITIZE_ADDRESS__)
#define DIMWISE_DETAIL_KEEPS_BLOCKS false
#elif defined(__has_feature)
#define DIMWISE_DETAIL_KEEPS_BLOCKS !__has_feature(address_sanitizer)
#else
#define DIMWISE_DETAIL_KEEPS_BLOCKS true
#endif
inline constexpr bool keeps_blocks = DIMWISE_DETAIL_KEEPS_BLOCKS;
#undef DIMWISE_DETAIL_KEEPS_BLOCKS

// Blocks of at least this size are pages of their own, in multiples of what is whole pages on any system: a part may be
// given back alone. They are not from the program's heap, which keeps what is freed between blocks that are in use.
inline constexpr std::size_t least_pages = std::size_t{1} << 17;
inline constexpr std::size_t page_step = std::size_t{1} << 16;
// `step` is a power of two.
constexpr std::size_t rounded_up(std::size_t bytes, std::size_t step) { return (bytes + step - 1) & ~(step - 1); }

#if defined(MADV_HUGEPAGE)
constexpr bool in_pages(std::size_t bytes) { return keeps_blocks && bytes >= least_pages; }

// At `wish` where that is free, or where the system likes; null where there is no memory.
inline std::byte* map_pages(std::size_t bytes, void* wish = nullptr) noexcept {
  void* const memory = ::mmap(wish, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}
// A system without large pages refuses, which costs nothing but speed.
inline void want_large_pages(void* memory, std::size_t bytes) noexcept {
  (void)::madvise(memory, bytes, MADV_HUGEPAGE);
}
// `bytes` is a multiple of `page_step`.
inline void* take_pages(std::size_t bytes) {
  const bool large = bytes >= large_page;
  const std::size_t all = large ? bytes + large_page : bytes;  // somewhere in it a large page begins
  std::byte* begin = all < bytes ? nullptr : map_pages(all);
  if (begin == nullptr) { throw std::bad_alloc(); }
  if (!large) { return begin; }
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % large_page;
  if (before > 0) { ::munmap(begin, before); }
  begin += before;
  ::munmap(begin + bytes, large_page - before);
  want_large_pages(begin, bytes);
  return begin;
}
// Whether so many bytes that end at `end` could be taken: whole large pages.
inline bool take_pages_before(std::byte* end, std::size_t bytes) noexcept {
  std::byte* const begin = map_pages(bytes, end - bytes);
  if (begin == nullptr) { return false; }
  if (begin != end - bytes) {
    ::munmap(begin, bytes);
    return false;
  }
  want_large_pages(begin, bytes);
  return true;
}
inline void give_pages(void* memory, std::size_t bytes) noexcept { ::munmap(memory, bytes); }
#else
constexpr bool in_pages(std::size_t) { return false; }
inline void* take_pages(std::size_t) { return nullptr; }
inline bool take_pages_before(std::byte*, std::size_t) noexcept { return false; }
inline void give_pages(void*, std::size_t) noexcept {}
#endif

inline void* take_from_system(std::size_t bytes) {
  return in_pages(bytes) ? take_pages(bytes) : ::operator new(bytes, std::align_val_t{alignment});
}
inline void give_to_system(void* memory, std::size_t bytes) noexcept {
  if (in_pages(bytes)) {
    give_pages(memory, bytes);
  } else {
    ::operator delete(memory, std::align_val_t{alignment});
  }
}

// While one exists, blocks that this thread takes are contiguous in runs of large pages: many matrices of a small model
// are smaller than a page, and one of 2.25 MB would end in small ones. It is for what comes and goes together, the
// weights of a model and the caches of a text: a run is given back with its last block. Weights take no blocks that the
// thread has kept, which may be in small pages; caches do: a program that copies them would else keep both.
class weights_together {
 public:
  static constexpr std::size_t run_bytes = 8 * large_page;
  static constexpr std::size_t least_bytes = large_page / 64;
  static constexpr std::size_t most_bytes = run_bytes / 2;
  enum class block : unsigned char { as_before, fresh, kept_or_fresh };

  explicit weights_together(block kind = block::fresh) : before_(std::exchange(wanted, kind)) {}
  weights_together(const weights_together&) = delete;
  weights_together& operator=(const weights_together&) = delete;
  ~weights_together() { wanted = before_; }

  static bool takes(std::size_t bytes) { return wanted != block::as_before && has_size(bytes); }
  static bool takes_kept() { return wanted != block::fresh; }
  // `bytes` is a multiple of `alignment`.
  static void* take(std::size_t bytes);
  // Whether the block is from here.
  static bool has(const void* memory, std::size_t bytes) noexcept;
  // False where the block is not from here.
  static bool give(const void* memory, std::size_t bytes) noexcept;

 private:
  struct run {
    run* next;
    std::size_t used;
    std::size_t blocks;
  };
  static_assert(sizeof(run) <= alignment);
  struct lock {
    lock() {
      while (busy.test_and_set(std::memory_order_acquire)) { busy.wait(true, std::memory_order_relaxed); }
    }
    lock(const lock&) = delete;
    lock& operator=(const lock&) = delete;
    ~lock() {
      busy.clear(std::memory_order_release);
      busy.notify_one();
    }
  };
  static bool has_size(std::size_t bytes) { return bytes >= least_bytes && bytes <= most_bytes; }
  // Without the lock, which every block that is given back would wait for: most are outside of all runs.
  static bool may_have(const void* memory, std::size_t bytes) noexcept;
  static run** link_of(const void* memory) noexcept;

  static constinit inline thread_local block wanted = block::as_before;
  static constinit inline std::atomic_flag busy{};
  static constinit inline run* first = nullptr;  // the one that is taken from
  // Where all runs are that there ever were.
  static constinit inline std::atomic<std::uintptr_t> lowest{~std::uintptr_t{0}};
  static constinit inline std::atomic<std::uintptr_t> highest{0};
  block before_;
};

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/tensor/large_pages_definitions.hpp>
#endif
