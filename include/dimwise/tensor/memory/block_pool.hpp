// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/memory/block_pool.hpp -- a per-thread pool that reuses freed blocks for later tensors.
//
// Layer: tensor. Allocating a small aligned block costs more than a small product. The pages of a large block are
// mapped and zeroed again on each allocation, which is a fifth of a small layer and half of a training step.
// Tests: tests/tensor/memory/storage.test.cpp, tests/eval/context.test.cpp
#pragma once

#include <dimwise/support/library.hpp>
#include <dimwise/tensor/memory/large_pages.hpp>

#include <bit>
#include <cstddef>
#include <limits>

namespace dimwise::detail {

// The free blocks of a thread. It has no destructor: `block_pool::closer` empties it.
struct kept_blocks {
  static constexpr std::size_t capacity = 512;
  static constexpr std::size_t size_classes = 9;
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
  enum class phase : unsigned char { before, open, closed };
  struct link {
    link* next;
  };
  struct small_list {
    link* first = nullptr;
    std::size_t count = 0;
  };
  struct block {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
    bool pages = false;  // may be split, joined, and freed in parts
  };
  small_list small[size_classes];
  block large[capacity];  // in the order of their release, the oldest first
  std::size_t count = 0;
  std::size_t total = 0;  // bytes of all blocks
  std::size_t limit = no_limit;
  std::size_t missed = 0;
  std::byte* bottom = nullptr;  // the first byte of the most recently mapped pages
  phase now = phase::before;
};

// The free blocks of this thread, for its next evaluation. Small sizes are powers of two with one list each. Blocks of
// pages are split and joined, so that the memory of one statement serves the next one of other sizes. Without an
// explicit limit, the free and used bytes of all threads stay below their highest use plus a sixteenth and 8 MiB per
// thread: a training step finds most of the previous step's memory. The oldest block is freed first.
class block_pool {
 public:
  static constexpr std::size_t small_bytes = std::size_t{1} << 14;
  static constexpr std::size_t most_bytes = std::numeric_limits<std::size_t>::max() / 2;
  static constexpr std::size_t kept_of_a_size = std::size_t{1} << 16;
  static_assert(weights_together::least_bytes > small_bytes);
  static constexpr std::size_t slack = std::size_t{1} << 23;

  // The size of a block in the pool: a free block serves any request that rounds to the same size.
  static constexpr std::size_t rounded(std::size_t bytes) {
    if (bytes > most_bytes) { return bytes; }
    if (bytes <= small_bytes) { return bytes <= alignment ? alignment : std::bit_ceil(bytes); }
    return rounded_up(bytes, in_pages(bytes) ? page_step : small_bytes);
  }
  static void* take(std::size_t asked);
  // `asked` is the requested size of the block.
  static void give(void* memory, std::size_t asked) noexcept;
  // Frees all blocks and returns their size in bytes. Resets the highest use.
  static std::size_t trim() noexcept;
  static std::size_t bytes() noexcept { return kept.total; }
  // The most bytes of large blocks in use at once, in all threads, since the last `trim`.
  static std::size_t peak() noexcept;
  // The number of large blocks that came from the system and not from the pool.
  static std::size_t taken_from_system() noexcept { return kept.missed; }
  static void limit(std::size_t bytes) noexcept;

 private:
  using link = kept_blocks::link;
  using block = kept_blocks::block;
  using phase = kept_blocks::phase;
  static_assert(alignment << (kept_blocks::size_classes - 1) == small_bytes);
  static constinit inline thread_local kept_blocks kept{};
  struct closer {
    ~closer() {
      give_back_all();
      kept.now = phase::closed;  // static tensors are destroyed after their thread's pool
    }
  };

  // The number of bytes that may stay free once `more` additional bytes are in use.
  static std::size_t room(std::size_t more) noexcept;
  static void release(const block& b) noexcept;
  static constexpr std::size_t size_class(std::size_t bytes) {
    return static_cast<std::size_t>(std::countr_zero(bytes / alignment));
  }
  static bool opened() noexcept;

  // Adds to the number of free bytes.
  static void count_kept(std::ptrdiff_t bytes) noexcept;
  static void forget(std::size_t place) noexcept;
  // Keeps a block and joins it with its neighbours if there is room; frees the oldest blocks to make room.
  static bool keep(block given) noexcept;
  // The end of the smallest block with at least this size; the newest of several.
  static void* take_kept(std::size_t bytes) noexcept;
  static void* take_end(std::size_t place, std::size_t bytes) noexcept;
  static void* take_new(std::size_t bytes);
  static std::size_t give_back_all() noexcept;
  static std::size_t large_bytes() noexcept;
  // Frees at least `bytes` if the pool has them: whole blocks, and the end of one in whole large pages.
  static void drop_oldest(std::size_t bytes) noexcept;
  static std::size_t drop(const block& b) noexcept;
};

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/tensor/memory/block_pool_definitions.hpp>
#endif
