// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/large_pages.hpp -- blocks of memory from the system, large ones in large pages.
//
// Layer: tensor. POSIX: mmap, and Linux's madvise, where they are.
// A page of 4 KB is where a processor's prefetchers end, and a table of such pages for the weights of a model is larger
// than what a processor keeps of it: reading 256 MB takes 1.3 to 1.9 times as long as in pages of 2 MB (Zen 4). Linux
// gives these where a program asks for them, on the first write, and small ones where it has none.
// Tests: tests/tensor/storage.test.cpp
#pragma once

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

#if defined(MADV_HUGEPAGE)
constexpr bool in_large_pages(std::size_t bytes) { return keeps_blocks && bytes >= large_page; }
// In whole pages of any system.
constexpr std::size_t mapped(std::size_t bytes) { return (bytes + 0xffff) / 0x10000 * 0x10000; }

// Not from the program's heap: what is given back there stays marked for large pages, and small blocks would fill them.
inline void* take_large_pages(std::size_t bytes) {
  const std::size_t size = mapped(bytes);
  const std::size_t all = size + large_page;  // somewhere in it a page begins
  void* const memory =
      all < bytes ? MAP_FAILED : ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) { throw std::bad_alloc(); }
  std::byte* const begin = static_cast<std::byte*>(memory);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % large_page;
  if (before > 0) { ::munmap(begin, before); }
  ::munmap(begin + before + size, large_page - before);
  // A system without large pages refuses, which costs nothing but speed.
  (void)::madvise(begin + before, size, MADV_HUGEPAGE);
  return begin + before;
}
#else
constexpr bool in_large_pages(std::size_t) { return false; }
inline void* take_large_pages(std::size_t) { return nullptr; }
#endif

inline void* take_from_system(std::size_t bytes) {
  return in_large_pages(bytes) ? take_large_pages(bytes) : ::operator new(bytes, std::align_val_t{alignment});
}
inline void give_to_system(void* memory, std::size_t bytes) noexcept {
#if defined(MADV_HUGEPAGE)
  if (in_large_pages(bytes)) {
    ::munmap(memory, mapped(bytes));
    return;
  }
#endif
  ::operator delete(memory, std::align_val_t{alignment});
}

// While one lives, blocks that this thread takes lie side by side in runs of large pages: many matrices of a small
// model are smaller than a page, and one of 2.25 MB would end in small ones. It is for what comes and goes together,
// the weights of a model and the caches of a text: a run is given back with its last block. Weights take no blocks that
// the thread has kept, which may lie in small pages; caches do: a program that copies them would else keep both.
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
  static void* take(std::size_t bytes) {
    const lock here;
    if (first == nullptr || first->used + bytes > run_bytes) {
      first = new (take_from_system(run_bytes)) run{first, alignment, 0};
    }
    void* const memory = reinterpret_cast<std::byte*>(first) + first->used;
    first->used += bytes;
    ++first->blocks;
    return memory;
  }
  // False where the block is not from here.
  static bool give(void* memory, std::size_t bytes) noexcept {
    if (!has_size(bytes)) { return false; }
    const lock here;
    for (run** link = &first; *link != nullptr; link = &(*link)->next) {
      run* const one = *link;
      if (reinterpret_cast<std::uintptr_t>(memory) - reinterpret_cast<std::uintptr_t>(one) >= run_bytes) { continue; }
      if (--one->blocks == 0) {
        *link = one->next;
        give_to_system(one, run_bytes);
      }
      return true;
    }
    return false;
  }

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

  static constinit inline thread_local block wanted = block::as_before;
  static constinit inline std::atomic_flag busy{};
  static constinit inline run* first = nullptr;  // the one that is taken from
  block before_;
};

}  // namespace dimwise::detail
