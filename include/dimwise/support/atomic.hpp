// SPDX-License-Identifier: BSL-1.0
// dimwise/support/atomic.hpp -- an atomic value with the operations that handles of memory need, without <atomic>.
//
// Layer: support. Includes: nothing. <atomic> of libstdc++ contains waiting, and with it the headers of threads and of
// system calls. g++ and clang have the same built-in functions; std::atomic calls them. A name says its memory order.
// Tests: tests/support/atomic.test.cpp, tests/tensor/memory/storage.test.cpp
#pragma once

namespace dimwise::detail {

template <class T>
class atomic_value {
 public:
  constexpr explicit atomic_value(T value) : value_(value) {}
  atomic_value(const atomic_value&) = delete;
  atomic_value& operator=(const atomic_value&) = delete;

  [[nodiscard]] T load_relaxed() const { return __atomic_load_n(&value_, __ATOMIC_RELAXED); }
  [[nodiscard]] T load_acquire() const { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
  void store_relaxed(T value) { __atomic_store_n(&value_, value, __ATOMIC_RELAXED); }
  // Both return the value before. Only for integers.
  T add_relaxed(T more) { return __atomic_fetch_add(&value_, more, __ATOMIC_RELAXED); }
  T subtract_acquire_release(T less) { return __atomic_fetch_sub(&value_, less, __ATOMIC_ACQ_REL); }
  // Returns the value before.
  T exchange_acquire_release(T value) { return __atomic_exchange_n(&value_, value, __ATOMIC_ACQ_REL); }
  // Stores `value` if the value is `expected`, and otherwise writes the value to `expected`; returns whether it stored.
  bool replace_acquire_release(T& expected, T value) {
    return __atomic_compare_exchange_n(&value_, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  }

 private:
  T value_;
};

}  // namespace dimwise::detail
