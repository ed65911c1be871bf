// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/block_pool.hpp -- memory that was freed, kept for the next tensor.
//
// Layer: tensor. An aligned small block costs the system allocator more than a small product costs the processor; pages
// of a large one are mapped and cleared anew each time, a fifth of a small layer and half of a training step.
// Tests: tests/tensor/storage.test.cpp, tests/eval/context.test.cpp
#pragma once

#include <dimwise/support/library.hpp>
#include <dimwise/tensor/large_pages.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

namespace dimwise::detail {

// The blocks that a thread keeps. It has no destructor: `block_pool::closer` empties it.
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
    bool pages = false;  // may be split, joined, and given back in parts
  };
  small_list small[size_classes];
  block large[capacity];  // as they were given, the oldest first
  std::size_t count = 0;
  std::size_t total = 0;  // bytes of all blocks
  std::size_t limit = no_limit;
  std::size_t missed = 0;
  std::byte* bottom = nullptr;  // the first byte of the pages that were taken last
  phase now = phase::before;
};

// Blocks that this thread gave back, for its next evaluation. Small sizes are powers of two, one list for each. Blocks
// of pages are split and joined again, so that one statement's memory serves the next, whatever its sizes are. Where no
// limit was said, what all threads keep and use is at most a sixteenth and 8 MiB for each thread above the most that
// they ever used: a step of training finds most of the last one's memory. The oldest goes first.
class block_pool {
 public:
  static constexpr std::size_t small_bytes = std::size_t{1} << 14;
  static constexpr std::size_t most_bytes = std::numeric_limits<std::size_t>::max() / 2;
  static constexpr std::size_t kept_of_a_size = std::size_t{1} << 16;
  static_assert(weights_together::least_bytes > small_bytes);
  static constexpr std::size_t slack = std::size_t{1} << 23;

  // A block's size in the pool: what is given back fits whatever rounds to the same.
  static constexpr std::size_t rounded(std::size_t bytes) {
    if (bytes > most_bytes) { return bytes; }
    if (bytes <= small_bytes) { return bytes <= alignment ? alignment : std::bit_ceil(bytes); }
    return rounded_up(bytes, in_pages(bytes) ? page_step : small_bytes);
  }
  static void* take(std::size_t asked);
  // `asked` is the number of bytes that the block was taken with.
  static void give(void* memory, std::size_t asked) noexcept;
  // Gives all blocks back to the system; returns how many bytes they had. What was in use before does not count.
  static std::size_t trim() noexcept;
  static std::size_t bytes() noexcept { return kept.total; }
  // The most bytes of large blocks that were in use at once, in all threads, since the last `trim`.
  static std::size_t peak() noexcept { return most_in_use; }
  // How many large blocks were not found among those that are kept.
  static std::size_t taken_from_system() noexcept { return kept.missed; }
  static void limit(std::size_t bytes) noexcept;

 private:
  using link = kept_blocks::link;
  using block = kept_blocks::block;
  using phase = kept_blocks::phase;
  static_assert(alignment << (kept_blocks::size_classes - 1) == small_bytes);
  static constinit inline thread_local kept_blocks kept{};
  // Bytes of large blocks of all threads: a block may be given back by another thread than the one that took it.
  static constinit inline std::atomic<std::size_t> in_use{0};
  static constinit inline std::atomic<std::size_t> most_in_use{0};
  static constinit inline std::atomic<std::size_t> all_kept{0};
  struct closer {
    ~closer() {
      give_back_all();
      kept.now = phase::closed;  // tensors of static storage die later than their thread's pool
    }
  };

  // How many bytes may be kept besides, once `more` are in use besides.
  static std::size_t room(std::size_t more) noexcept;
  static void release(const block& b) noexcept;
  static constexpr std::size_t size_class(std::size_t bytes) {
    return static_cast<std::size_t>(std::countr_zero(bytes / alignment));
  }
  static bool opened() noexcept;

  // Bytes come or go.
  static void count_kept(std::ptrdiff_t bytes) noexcept;
  static void forget(std::size_t place) noexcept;
  // Keeps a block, joined with its neighbours, where there is room; the oldest make some.
  static bool keep(block given) noexcept;
  // The end of the smallest block that has so many bytes, the newest of several.
  static void* take_kept(std::size_t bytes) noexcept;
  static void* take_end(std::size_t place, std::size_t bytes) noexcept;
  static void* take_new(std::size_t bytes);
  static std::size_t give_back_all() noexcept;
  static std::size_t large_bytes() noexcept;
  // Gives at least so many bytes back, if there are as many: whole blocks, and the end of one in whole large pages.
  static void drop_oldest(std::size_t bytes) noexcept;
  static std::size_t drop(const block& b) noexcept;
};

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/tensor/block_pool_definitions.hpp>
#endif
