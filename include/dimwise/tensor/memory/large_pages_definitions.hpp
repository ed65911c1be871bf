// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/memory/large_pages_definitions.hpp -- runs of large pages for weights that are allocated together.
//
// Layer: tensor. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/tensor/memory/storage.test.cpp
#pragma once

#include <dimwise/tensor/memory/large_pages.hpp>

#include <algorithm>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY void* weights_together::take(std::size_t bytes) {
  const lock here;
  if (first == nullptr || first->used + bytes > run_bytes) {
    first = new (take_from_system(run_bytes)) run{first, alignment, 0};
    const auto begin = reinterpret_cast<std::uintptr_t>(first);
    lowest.store(std::min(lowest.load(std::memory_order_relaxed), begin), std::memory_order_relaxed);
    highest.store(std::max(highest.load(std::memory_order_relaxed), begin + run_bytes), std::memory_order_relaxed);
  }
  void* const memory = reinterpret_cast<std::byte*>(first) + first->used;
  first->used += bytes;
  ++first->blocks;
  return memory;
}

DIMWISE_DETAIL_LIBRARY bool weights_together::has(const void* memory, std::size_t bytes) noexcept {
  if (!may_have(memory, bytes)) { return false; }
  const lock here;
  return *link_of(memory) != nullptr;
}

DIMWISE_DETAIL_LIBRARY bool weights_together::give(const void* memory, std::size_t bytes) noexcept {
  if (!may_have(memory, bytes)) { return false; }
  const lock here;
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
  return has_size(bytes) && at >= lowest.load(std::memory_order_relaxed) &&
         at < highest.load(std::memory_order_relaxed);
}

DIMWISE_DETAIL_LIBRARY weights_together::run** weights_together::link_of(const void* memory) noexcept {
  run** link = &first;
  for (; *link != nullptr; link = &(*link)->next) {
    if (reinterpret_cast<std::uintptr_t>(memory) - reinterpret_cast<std::uintptr_t>(*link) < run_bytes) { break; }
  }
  return link;
}

}  // namespace dimwise::detail
