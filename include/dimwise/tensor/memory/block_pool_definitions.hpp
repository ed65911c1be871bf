// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/memory/block_pool_definitions.hpp -- how the pool keeps, joins and frees blocks.
//
// Layer: tensor. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/tensor/memory/storage.test.cpp, tests/eval/context.test.cpp
#pragma once

#include <dimwise/tensor/memory/block_pool.hpp>

#include <algorithm>
#include <atomic>

namespace dimwise::detail {

// Bytes of large blocks of all threads: another thread than the allocating one may free a block.
inline constinit std::atomic<std::size_t> pool_in_use{0};
inline constinit std::atomic<std::size_t> pool_most_in_use{0};
inline constinit std::atomic<std::size_t> pool_all_kept{0};

DIMWISE_DETAIL_LIBRARY std::size_t block_pool::peak() noexcept { return pool_most_in_use; }

DIMWISE_DETAIL_LIBRARY void* block_pool::take(std::size_t asked) {
  const std::size_t bytes = rounded(asked);
  (void)opened();  // keeps a shared library loaded until the threads that used its pool end
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
  // Weights that are allocated together are contiguous, except those that reuse a free block.
  const bool together = keeps_blocks && weights_together::takes(bytes);
  void* memory = !together || weights_together::takes_kept() ? take_kept(bytes) : nullptr;
  if (memory == nullptr) { memory = together ? weights_together::take(bytes) : take_new(bytes); }
  const std::size_t live = pool_in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::size_t before = pool_most_in_use.load(std::memory_order_relaxed);
  while (before < live && !pool_most_in_use.compare_exchange_weak(before, live, std::memory_order_relaxed)) {}
  return memory;
}

DIMWISE_DETAIL_LIBRARY void block_pool::give(void* memory, std::size_t asked) noexcept {
  if (memory == nullptr) { return; }
  const std::size_t bytes = rounded(asked);
  if (bytes > small_bytes) {
    pool_in_use.fetch_sub(bytes, std::memory_order_relaxed);
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

DIMWISE_DETAIL_LIBRARY std::size_t block_pool::trim() noexcept {
  pool_most_in_use = pool_in_use.load();
  return give_back_all();
}

DIMWISE_DETAIL_LIBRARY void block_pool::limit(std::size_t bytes) noexcept {
  kept.limit = bytes;
  if (kept.total > bytes) { give_back_all(); }
}

DIMWISE_DETAIL_LIBRARY std::size_t block_pool::room(std::size_t more) noexcept {
  if (kept.limit != kept_blocks::no_limit) { return kept.limit - std::min(kept.limit, kept.total); }
  const std::size_t live = pool_in_use.load(std::memory_order_relaxed) + more;
  const std::size_t most = std::max(pool_most_in_use.load(std::memory_order_relaxed), live);
  const std::size_t may = most - live + most / 16 + slack;
  const std::size_t kept_by_all = pool_all_kept.load(std::memory_order_relaxed);
  // A thread leaves scratch memory for the others, such as the workers of an executor.
  return std::max(may - std::min(may, kept_by_all), slack - std::min(slack, kept.total));
}

DIMWISE_DETAIL_LIBRARY void block_pool::release(const block& b) noexcept {
  if (b.pages) {
    give_pages(b.memory, b.bytes);
  } else if (!weights_together::give(b.memory, b.bytes)) {
    give_to_system(b.memory, b.bytes);
  }
}

DIMWISE_DETAIL_LIBRARY bool block_pool::opened() noexcept {
  if (kept.now == phase::before) {
    static thread_local const closer at_end;
    (void)at_end;
    kept.now = phase::open;
  }
  return kept.now == phase::open;
}

DIMWISE_DETAIL_LIBRARY void block_pool::count_kept(std::ptrdiff_t bytes) noexcept {
  kept.total += static_cast<std::size_t>(bytes);
  pool_all_kept.fetch_add(static_cast<std::size_t>(bytes), std::memory_order_relaxed);
}

DIMWISE_DETAIL_LIBRARY void block_pool::forget(std::size_t place) noexcept {
  std::copy(kept.large + place + 1, kept.large + kept.count, kept.large + place);
  --kept.count;
}

DIMWISE_DETAIL_LIBRARY bool block_pool::keep(block given) noexcept {
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

DIMWISE_DETAIL_LIBRARY void* block_pool::take_kept(std::size_t bytes) noexcept {
  std::size_t best = kept.count;
  for (std::size_t i = kept.count; i-- > 0;) {
    const block& b = kept.large[i];
    const bool fits = b.pages ? in_pages(bytes) && b.bytes >= bytes : b.bytes == bytes;
    if (fits && (best == kept.count || b.bytes < kept.large[best].bytes)) { best = i; }
  }
  return best == kept.count ? nullptr : take_end(best, bytes);
}

DIMWISE_DETAIL_LIBRARY void* block_pool::take_end(std::size_t place, std::size_t bytes) noexcept {
  block& b = kept.large[place];
  b.bytes -= bytes;
  void* const memory = b.memory + b.bytes;
  if (b.bytes == 0) { forget(place); }
  count_kept(-static_cast<std::ptrdiff_t>(bytes));
  return memory;
}

DIMWISE_DETAIL_LIBRARY void* block_pool::take_new(std::size_t bytes) {
  // Before `bytes` come from the system: keeps the sum of free and used memory within the limit.
  while (kept.count > 0 && kept.limit == kept_blocks::no_limit && room(bytes) == 0) { drop_oldest(large_page); }
  ++kept.missed;
  if (!in_pages(bytes) || bytes > most_bytes || !opened()) { return take_from_system(bytes); }
  // Pages are mapped in whole large pages if the rest may stay free. They precede the previous ones if those begin with
  // free pages: then only the missing part is mapped.
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

DIMWISE_DETAIL_LIBRARY std::size_t block_pool::give_back_all() noexcept {
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

DIMWISE_DETAIL_LIBRARY std::size_t block_pool::large_bytes() noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < kept.count; ++i) { bytes += kept.large[i].bytes; }
  return bytes;
}

DIMWISE_DETAIL_LIBRARY void block_pool::drop_oldest(std::size_t bytes) noexcept {
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

DIMWISE_DETAIL_LIBRARY std::size_t block_pool::drop(const block& b) noexcept {
  count_kept(-static_cast<std::ptrdiff_t>(b.bytes));
  release(b);
  return b.bytes;
}

}  // namespace dimwise::detail
