// tests/support/failing_allocations.hpp -- operator new that fails when a test asks for it.
//
// Include it in one file of an executable: it replaces operator new for the whole executable.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace dimwise_test {

/// How many allocations succeed before one fails; all of them below 0.
inline long allocations_left = -1;  // NOLINT

/// Every allocation after the one that fails, until the work has ended, fails as well: memory is out for long.
inline bool failing_stays = false;  // NOLINT

inline void* allocated_or_failed(std::size_t bytes, std::size_t alignment) {
  if (allocations_left == 0) {
    if (!failing_stays) { allocations_left = -1; }
    throw std::bad_alloc();
  }
  if (allocations_left > 0) { --allocations_left; }
  void* const p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p == nullptr) { throw std::bad_alloc(); }
  return p;
}

/// Calls `round(work)` until no allocation of the work fails: in round n, allocation n of `work(f)` fails. `work(f)`
/// calls f, and says whether f has ended. Returns how many rounds failed.
template <class Round>
long each_allocation_fails(const Round& round) {
  for (long n = 0;; ++n) {
    bool failed = false;
    round([&](const auto& f) {
      allocations_left = n;
      try {
        f();
      } catch (const std::bad_alloc&) { failed = true; }
      allocations_left = -1;
      return !failed;
    });
    if (!failed) { return n; }
  }
}

}  // namespace dimwise_test

// Not inline: g++ 12 warns of malloc'd memory where it sees the inside of both (bug 103993).
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return dimwise_test::allocated_or_failed(bytes == 0 ? 1 : bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return dimwise_test::allocated_or_failed(bytes == 0 ? 1 : bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
