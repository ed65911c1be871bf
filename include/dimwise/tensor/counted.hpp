// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/counted.hpp -- how many handles share something, and a handle of that kind.
//
// Layer: tensor. Not std::shared_ptr: whether a handle is the only one must order what other threads did with theirs,
// and <memory> costs an eighth of a second to compile.
// Tests: tests/tensor/storage.test.cpp, tests/nn/cache_paged.test.cpp
#pragma once

#include <atomic>
#include <utility>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace dimwise::detail {

// How many handles share something. As in the standard library's shared pointers, a program without threads does not
// pay for atomic instructions: forming an expression copies dozens of handles.
class owner_count {
 public:
  [[gnu::always_inline]] void add() {
    if (alone()) {
      count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      count_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  // True when it was the last.
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

// A handle of an object that ends with the last of its handles.
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
  // Whether no other handle shares the object: then all that was done with others comes before what follows.
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
