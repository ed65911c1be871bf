// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/counted.hpp -- a reference count and a reference-counted handle.
//
// Layer: tensor. Not std::shared_ptr: a check for the only owner must synchronise with other threads' releases, and
// <memory> costs an eighth of a second to compile.
// Tests: tests/tensor/storage.test.cpp, tests/nn/cache/paged.test.cpp
#pragma once

#include <atomic>
#include <utility>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace dimwise::detail {

// A reference count. As with std::shared_ptr in libstdc++, a program without threads avoids atomic instructions:
// forming an expression copies dozens of handles.
class owner_count {
 public:
  [[gnu::always_inline]] void add() {
    if (alone()) {
      count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      count_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  // Returns true for the last owner.
  [[nodiscard, gnu::always_inline]] bool drop() {
    if (alone()) {
      const long left = count_.load(std::memory_order_relaxed) - 1;
      count_.store(left, std::memory_order_relaxed);
      return left == 0;
    }
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  [[nodiscard]] bool is_one() const { return count_.load(std::memory_order_acquire) == 1; }

 private:
  static bool alone() {
#if __has_include(<sys/single_threaded.h>)
    return __libc_single_threaded != 0;
#else
    return false;
#endif
  }

  std::atomic<long> count_{1};
};

// A handle to an object, which is destroyed with its last handle.
template <class T>
class counted {
 public:
  template <class... Arguments>
  static counted make(Arguments&&... arguments) {
    return counted(new shared{{}, T(std::forward<Arguments>(arguments)...)});
  }
  counted(const counted& other) noexcept : shared_(other.shared_) {
    if (shared_ != nullptr) { shared_->owners.add(); }
  }
  counted(counted&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  counted& operator=(counted other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~counted() {
    if (shared_ != nullptr && shared_->owners.drop()) { delete shared_; }
  }

  [[nodiscard]] T& operator*() const { return shared_->object; }
  [[nodiscard]] T* operator->() const { return &shared_->object; }
  // Whether this is the only handle; if so, earlier uses through other handles happen before what follows.
  [[nodiscard]] bool is_only() const { return shared_->owners.is_one(); }

 private:
  struct shared {
    owner_count owners;
    T object;
  };
  explicit counted(shared* s) : shared_(s) {}

  shared* shared_;
};

}  // namespace dimwise::detail
