// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/memory/large_pages_definitions.hpp -- runs of large pages for weights that are allocated together.
//
// Layer: tensor. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/tensor/memory/storage.test.cpp
#pragma once

#include <dimwise/tensor/memory/large_pages.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace dimwise::detail {

inline constinit std::atomic_flag weights_busy{};
// The address range of all runs so far.
inline constinit std::atomic<std::uintptr_t> lowest_run{~std::uintptr_t{0}};
inline constinit std::atomic<std::uintptr_t> highest_run{0};

struct weights_lock {
  weights_lock() {
    while (weights_busy.test_and_set(std::memory_order_acquire)) { weights_busy.wait(true, std::memory_order_relaxed); }
  }
  weights_lock(const weights_lock&) = delete;
  weights_lock& operator=(const weights_lock&) = delete;
  ~weights_lock() {
    weights_busy.clear(std::memory_order_release);
    weights_busy.notify_one();
  }
};

DIMWISE_DETAIL_LIBRARY void* weights_together::take(std::size_t bytes) {
  const weights_lock here;
  if (first == nullptr || first->used + bytes > run_bytes) {
    first = new (take_from_system(run_bytes)) run{first, alignment, 0};
    const auto begin = reinterpret_cast<std::uintptr_t>(first);
    lowest_run.store(std::min(lowest_run.load(std::memory_order_relaxed), begin), std::memory_order_relaxed);
    highest_run.store(std::max(highest_run.load(std::memory_order_relaxed), begin + run_bytes),
                      std::memory_order_relaxed);
  }
  void* const memory = reinterpret_cast<std::byte*>(first) + first->used;
  first->used += bytes;
  ++first->blocks;
  return memory;
}

DIMWISE_DETAIL_LIBRARY bool weights_together::has(const void* memory, std::size_t bytes) noexcept {
  if (!may_have(memory, bytes)) { return false; }
  const weights_lock here;
  return *link_of(memory) != nullptr;
}

DIMWISE_DETAIL_LIBRARY bool weights_together::give(const void* memory, std::size_t bytes) noexcept {
  if (!may_have(memory, bytes)) { return false; }
  const weights_lock here;
  run** const link = link_of(memory);
  run* const one = *link;
  if (one == nullptr) { return false; }
  if (--one->blocks == 0) {
    *link = one->next;
    give_to_system(one, run_bytes);
  }
  return true;
}

DIMWISE_DETAIL_LIBRARY bool weights_together::may_have(const void* memory, std::size_t bytes) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  return has_size(bytes) && at >= lowest_run.load(std::memory_order_relaxed) &&
         at < highest_run.load(std::memory_order_relaxed);
}

DIMWISE_DETAIL_LIBRARY weights_together::run** weights_together::link_of(const void* memory) noexcept {
  run** link = &first;
  for (; *link != nullptr; link = &(*link)->next) {
    if (reinterpret_cast<std::uintptr_t>(memory) - reinterpret_cast<std::uintptr_t>(*link) < run_bytes) { break; }
  }
  return link;
}

}  // namespace dimwise::detail
