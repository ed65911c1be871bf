// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/memory/counted.hpp -- a reference-counted handle that can tell whether it is the only one.
//
// Layer: tensor. Tensors copy their memory on write unless their handle is the only one. std::shared_ptr::use_count
// does not synchronise with threads that release other handles, and <memory> costs an eighth of a second to compile.
//
//   auto a = counted<buffer>::make(1024);
//   auto b = a;                 // the same buffer
//   if (a.is_only()) { … }      // false: copy the buffer before writing
//
// Tests: tests/tensor/memory/storage.test.cpp, tests/nn/cache/paged.test.cpp
#pragma once

#include <dimwise/support/atomic.hpp>

#include <utility>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace dimwise::detail {

// A reference count. While the program has a single thread, it avoids atomic read-modify-write instructions, as
// std::shared_ptr of libstdc++ does: forming an expression copies dozens of handles.
class owner_count {
 public:
  [[gnu::always_inline]] void add() {
    if (is_single_threaded()) {
      count_.store_relaxed(count_.load_relaxed() + 1);
    } else {
      count_.add_relaxed(1);
    }
  }
  // Whether this was the last owner.
  [[nodiscard, gnu::always_inline]] bool drop() {
    if (is_single_threaded()) {
      const long left = count_.load_relaxed() - 1;
      count_.store_relaxed(left);
      return left == 0;
    }
    return count_.subtract_acquire_release(1) == 1;
  }
  [[nodiscard]] bool is_one() const { return count_.load_acquire() == 1; }
  [[nodiscard]] long count() const { return count_.load_acquire(); }

 private:
  static bool is_single_threaded() {
#if __has_include(<sys/single_threaded.h>)
    return __libc_single_threaded != 0;
#else
    return false;
#endif
  }

  atomic_value<long> count_{1};
};

// A handle to an object. The last handle destroys the object; a moved-from handle has none.
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
  // Whether this is the only handle. If so, all uses through earlier handles, in any thread, happen before this call
  // returns.
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
