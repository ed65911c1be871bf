// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/block_pool.hpp -- memory that was freed, kept for the next tensor.
//
// Layer: tensor. An aligned small block costs the system allocator more than a small product costs the processor; pages
// of a large one are mapped and cleared anew each time, a fifth of a small layer and half of a training step.
// Tests: tests/tensor/storage.test.cpp, tests/eval/context.test.cpp
#pragma once

#include <dimwise/tensor/large_pages.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

namespace dimwise::detail {

// What a thread keeps. Without a destructor, so that taking a block asks nothing: `block_pool::closer` empties it.
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
  [[gnu::noinline]] static void* take(std::size_t asked) {
    const std::size_t bytes = rounded(asked);
    if (bytes <= small_bytes) {
      kept_blocks::small_list& list = kept.small[size_class(bytes)];
      if (link* const first = list.first) {
        list.first = first->next;
        --list.count;
        kept.total -= bytes;
        return first;
      }
      return take_from_system(bytes);
    }
    // Weights that are taken together lie side by side, but for those that find a kept block.
    const bool together = keeps_blocks && weights_together::takes(bytes);
    void* memory = !together || weights_together::takes_kept() ? take_kept(bytes) : nullptr;
    if (memory == nullptr) { memory = together ? weights_together::take(bytes) : take_new(bytes); }
    const std::size_t live = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::size_t before = most_in_use.load(std::memory_order_relaxed);
    while (before < live && !most_in_use.compare_exchange_weak(before, live, std::memory_order_relaxed)) {}
    return memory;
  }
  // `asked` is what the block was taken with.
  [[gnu::noinline]] static void give(void* memory, std::size_t asked) noexcept {
    if (memory == nullptr) { return; }
    const std::size_t bytes = rounded(asked);
    if (bytes > small_bytes) {
      in_use.fetch_sub(bytes, std::memory_order_relaxed);
      const block given = {static_cast<std::byte*>(memory), bytes,
                           in_pages(bytes) && !weights_together::has(memory, bytes)};
      if (!keeps_blocks || bytes > most_bytes || !opened() || !keep(given)) { release(given); }
    } else if (kept_blocks::small_list& list = kept.small[size_class(bytes)];
               keeps_blocks && opened() && (list.count + 1) * bytes <= kept_of_a_size &&
               kept.total + bytes <= kept.limit) {
      list.first = new (memory) link{list.first};
      ++list.count;
      kept.total += bytes;
    } else {
      give_to_system(memory, bytes);
    }
  }
  // Gives all blocks back to the system; returns how many bytes they had. What was in use before does not count.
  static std::size_t trim() noexcept {
    most_in_use = in_use.load();
    return give_back_all();
  }
  static std::size_t bytes() noexcept { return kept.total; }
  // The most bytes of large blocks that were in use at once, in all threads, since the last `trim`.
  static std::size_t peak() noexcept { return most_in_use; }
  // How many large blocks were not found among those that are kept.
  static std::size_t taken_from_system() noexcept { return kept.missed; }
  static void limit(std::size_t bytes) noexcept {
    kept.limit = bytes;
    if (kept.total > bytes) { give_back_all(); }
  }

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
  static std::size_t room(std::size_t more) noexcept {
    if (kept.limit != kept_blocks::no_limit) { return kept.limit - std::min(kept.limit, kept.total); }
    const std::size_t live = in_use.load(std::memory_order_relaxed) + more;
    const std::size_t most = std::max(most_in_use.load(std::memory_order_relaxed), live);
    const std::size_t may = most - live + most / 16 + slack;
    const std::size_t kept_by_all = all_kept.load(std::memory_order_relaxed);
    // What one thread keeps leaves the others, as the workers of an executor, their own scratch.
    return std::max(may - std::min(may, kept_by_all), slack - std::min(slack, kept.total));
  }
  static void release(const block& b) noexcept {
    if (b.pages) {
      give_pages(b.memory, b.bytes);
    } else if (!weights_together::give(b.memory, b.bytes)) {
      give_to_system(b.memory, b.bytes);
    }
  }
  static constexpr std::size_t size_class(std::size_t bytes) {
    return static_cast<std::size_t>(std::countr_zero(bytes / alignment));
  }
  static bool opened() noexcept {
    if (kept.now == phase::before) {
      static thread_local const closer at_end;
      (void)at_end;
      kept.now = phase::open;
    }
    return kept.now == phase::open;
  }

  // Bytes come or go.
  static void count_kept(std::ptrdiff_t bytes) noexcept {
    kept.total += static_cast<std::size_t>(bytes);
    all_kept.fetch_add(static_cast<std::size_t>(bytes), std::memory_order_relaxed);
  }
  static void forget(std::size_t place) noexcept {
    std::copy(kept.large + place + 1, kept.large + kept.count, kept.large + place);
    --kept.count;
  }
  // Keeps a block, joined with its neighbours, where there is room; the oldest make some.
  static bool keep(block given) noexcept {
    const std::size_t left = room(0);
    if (given.bytes > left) {
      const std::size_t missing = given.bytes - left;
      if (missing > large_bytes()) { return false; }
      drop_oldest(missing);
    }
    count_kept(static_cast<std::ptrdiff_t>(given.bytes));
    for (std::size_t i = kept.count; given.pages && i-- > 0;) {
      const block& other = kept.large[i];
      const bool before = other.memory + other.bytes == given.memory;
      if (!other.pages || (!before && given.memory + given.bytes != other.memory)) { continue; }
      if (before) { given.memory = other.memory; }
      given.bytes += other.bytes;
      forget(i);
    }
    if (kept.count == kept_blocks::capacity) { drop_oldest(kept.large[0].bytes); }
    kept.large[kept.count++] = given;
    return true;
  }
  // The end of the smallest block that has so many bytes, the newest of several.
  static void* take_kept(std::size_t bytes) noexcept {
    std::size_t best = kept.count;
    for (std::size_t i = kept.count; i-- > 0;) {
      const block& b = kept.large[i];
      const bool fits = b.pages ? in_pages(bytes) && b.bytes >= bytes : b.bytes == bytes;
      if (fits && (best == kept.count || b.bytes < kept.large[best].bytes)) { best = i; }
    }
    return best == kept.count ? nullptr : take_end(best, bytes);
  }
  static void* take_end(std::size_t place, std::size_t bytes) noexcept {
    block& b = kept.large[place];
    b.bytes -= bytes;
    void* const memory = b.memory + b.bytes;
    if (b.bytes == 0) { forget(place); }
    count_kept(-static_cast<std::ptrdiff_t>(bytes));
    return memory;
  }
  static void* take_new(std::size_t bytes) {
    // Before the system gives `bytes`: what is kept and what is in use do not grow beyond what is allowed.
    while (kept.count > 0 && kept.limit == kept_blocks::no_limit && room(bytes) == 0) { drop_oldest(large_page); }
    ++kept.missed;
    if (!in_pages(bytes) || bytes > most_bytes || !opened()) { return take_from_system(bytes); }
    // Pages come in whole large ones where the rest may be kept. They come before the last ones, if those begin with
    // some that are kept: then what is missing is enough.
    std::size_t first = kept.count;
    while (first > 0 && (!kept.large[first - 1].pages || kept.large[first - 1].memory != kept.bottom)) { --first; }
    if (first-- > 0) {
      block& b = kept.large[first];
      const std::size_t more = rounded_up(bytes - b.bytes, large_page);
      if (b.bytes + more - bytes <= room(bytes) && take_pages_before(b.memory, more)) {
        kept.bottom = b.memory -= more;
        b.bytes += more;
        count_kept(static_cast<std::ptrdiff_t>(more));
        return take_end(first, bytes);
      }
    }
    const std::size_t rest = rounded_up(bytes, large_page) - bytes;
    if (rest > room(bytes)) { return take_from_system(bytes); }
    kept.bottom = static_cast<std::byte*>(take_from_system(bytes + rest));
    if (rest > 0 && !keep({kept.bottom, rest, true})) { give_pages(kept.bottom, rest); }
    return kept.bottom + rest;
  }
  static std::size_t give_back_all() noexcept {
    const std::size_t bytes = kept.total;
    std::size_t size = alignment;
    for (kept_blocks::small_list& list : kept.small) {
      while (link* const first = list.first) {
        list.first = first->next;
        give_to_system(first, size);
      }
      list.count = 0;
      size *= 2;
    }
    drop_oldest(bytes);
    kept.total = 0;
    return bytes;
  }
  static std::size_t large_bytes() noexcept {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < kept.count; ++i) { bytes += kept.large[i].bytes; }
    return bytes;
  }
  // Gives at least so many bytes back, if there are as many: whole blocks, and the end of one in whole large pages.
  static void drop_oldest(std::size_t bytes) noexcept {
    std::size_t whole = 0;
    for (; whole < kept.count && kept.large[whole].bytes <= bytes; ++whole) { bytes -= drop(kept.large[whole]); }
    if (whole < kept.count && bytes > 0) {
      block& b = kept.large[whole];
      std::size_t left = b.bytes - bytes;
      left -= std::min(left, (reinterpret_cast<std::uintptr_t>(b.memory) + left) % large_page);
      if (!b.pages || left == 0) {
        drop(b);
        ++whole;
      } else {
        drop({b.memory + left, b.bytes - left, true});
        b.bytes = left;
      }
    }
    std::copy(kept.large + whole, kept.large + kept.count, kept.large);
    kept.count -= whole;
  }
  static std::size_t drop(const block& b) noexcept {
    count_kept(-static_cast<std::ptrdiff_t>(b.bytes));
    release(b);
    return b.bytes;
  }
};

}  // namespace dimwise::detail
