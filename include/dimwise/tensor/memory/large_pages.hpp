// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/memory/large_pages.hpp -- allocation of large blocks in 2 MB pages.
//
// Layer: tensor. POSIX: mmap, and madvise on Linux if available. Hardware prefetchers stop at 4 KB page boundaries, and
// a model's 4 KB page table exceeds the TLB: reading 256 MB takes 1.3 to 1.9 times as long as in pages of 2 MB (Zen 4).
// Linux provides 2 MB pages on request at the first write, and falls back to 4 KB pages.
// Tests: tests/tensor/memory/storage.test.cpp
#pragma once

#include <dimwise/support/library.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#if __has_include(<sys/mman.h>) && !defined(__wasi__)  // the header of WASI is an error
#include <sys/mman.h>
#endif

namespace dimwise::detail {

inline constexpr std::size_t alignment = 64;
inline constexpr std::size_t large_page = std::size_t{1} << 21;

// The address sanitizer must see freed memory, so the pool keeps nothing under it.
#if defined(__SANITIZE_ADDRESS__)
#define DIMWISE_DETAIL_KEEPS_BLOCKS false
#elif defined(__has_feature)
#define DIMWISE_DETAIL_KEEPS_BLOCKS !__has_feature(address_sanitizer)
#else
#define DIMWISE_DETAIL_KEEPS_BLOCKS true
#endif
inline constexpr bool keeps_blocks = DIMWISE_DETAIL_KEEPS_BLOCKS;
#undef DIMWISE_DETAIL_KEEPS_BLOCKS

// Blocks of at least this size are mapped directly, in multiples that are whole pages on any system, so that parts can
// be unmapped. They bypass the heap, which keeps freed memory between blocks in use.
inline constexpr std::size_t least_pages = std::size_t{1} << 17;
inline constexpr std::size_t page_step = std::size_t{1} << 16;
// `step` is a power of two.
constexpr std::size_t rounded_up(std::size_t bytes, std::size_t step) { return (bytes + step - 1) & ~(step - 1); }

#if defined(MADV_HUGEPAGE)
constexpr bool in_pages(std::size_t bytes) { return keeps_blocks && bytes >= least_pages; }

// Maps pages at `wish` if it is free, or anywhere; returns null if there is no memory.
inline std::byte* map_pages(std::size_t bytes, void* wish = nullptr) noexcept {
  void* const memory = ::mmap(wish, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}
// A system without large pages ignores the request; the block is only slower.
inline void want_large_pages(void* memory, std::size_t bytes) noexcept {
  (void)::madvise(memory, bytes, MADV_HUGEPAGE);
}
// `bytes` is a multiple of `page_step`.
inline void* take_pages(std::size_t bytes) {
  const bool large = bytes >= large_page;
  const std::size_t all = large ? bytes + large_page : bytes;  // contains the start of a large page
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
// Whether whole large pages of this size, ending at `end`, could be mapped.
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

// While an instance exists, the blocks of this thread are contiguous in runs of large pages: many matrices of a small
// model are smaller than a page, and one of 2.25 MB would end in 4 KB pages. Use it for blocks with a common lifetime,
// such as the weights of a model or the caches of a text: a run is freed with its last block. Weights do not reuse free
// blocks of the pool, which may lie in small pages; caches do, since a program that copies them would keep both.
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
  // Whether the block belongs to a run.
  static bool has(const void* memory, std::size_t bytes) noexcept;
  // Frees a block of a run; returns false for other blocks.
  static bool give(const void* memory, std::size_t bytes) noexcept;

 private:
  struct run {
    run* next;
    std::size_t used;
    std::size_t blocks;
  };
  static_assert(sizeof(run) <= alignment);
  static bool has_size(std::size_t bytes) { return bytes >= least_bytes && bytes <= most_bytes; }
  // A check without the lock, which every free would wait for: most blocks are outside of all runs.
  static bool may_have(const void* memory, std::size_t bytes) noexcept;
  static run** link_of(const void* memory) noexcept;

  static constinit inline thread_local block wanted = block::as_before;
  static constinit inline run* first = nullptr;  // the run that serves allocations
  block before_;
};

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/tensor/memory/large_pages_definitions.hpp>
#endif
