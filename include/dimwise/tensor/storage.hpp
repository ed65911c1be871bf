// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/storage.hpp -- the memory of a tensor: xtensor's containers, 64-byte aligned, shared until written.
//
// Layer: tensor. The only place that owns memory.
// A copy shares the buffer and the first write to a shared buffer copies it: an expression that holds its operands can
// neither dangle nor change its meaning. A buffer whose address was handed out for writing is copied instead of shared,
// because nobody can know when it is written.
// Tests: tests/tensor/storage.test.cpp
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <new>
#include <utility>

#include <xtensor/xstorage.hpp>

#include <dimwise/dim/error.hpp>

namespace dimwise::detail {

inline constexpr std::size_t alignment = 64;
// Static tensors up to this many bytes live inside their object.
inline constexpr std::size_t inline_bytes = 1024;

template <class T>
struct aligned_allocator {
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using const_pointer = const T*;
  using reference = T&;
  using const_reference = const T&;
  template <class U>
  struct rebind {
    using other = aligned_allocator<U>;
  };

  aligned_allocator() = default;
  template <class U>
  explicit aligned_allocator(const aligned_allocator<U>&) {}

  [[nodiscard]] T* allocate(std::size_t n) {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) { throw std::bad_array_new_length(); }
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{alignment}));
  }
  void deallocate(T* p, std::size_t) noexcept { ::operator delete(p, std::align_val_t{alignment}); }
  [[nodiscard]] friend bool operator==(const aligned_allocator&, const aligned_allocator&) { return true; }
};

template <class T>
using aligned_vector = xt::uvector<T, aligned_allocator<T>>;

// A buffer whose extent is known only when the program runs, or that is too large for its object.
template <class T>
class shared_storage {
 public:
  shared_storage() = default;
  explicit shared_storage(std::size_t n) : block_(new block(n)) {}
  shared_storage(const shared_storage& other) : block_(other.block_) {
    if (block_ == nullptr) { return; }
    if (block_->handed_out) {
      block_ = new block(*other.block_);
    } else {
      block_->owners.fetch_add(1, std::memory_order_relaxed);
    }
  }
  shared_storage(shared_storage&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  shared_storage& operator=(shared_storage other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~shared_storage() {
    if (block_ != nullptr && block_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) { delete block_; }
  }

  [[nodiscard]] const T* read() const { return block_ == nullptr ? nullptr : block_->values.data(); }
  [[nodiscard]] T* write() {
    if (block_ == nullptr) { return nullptr; }
    if (block_->owners.load(std::memory_order_acquire) != 1) { *this = shared_storage(new block(*block_)); }
    return block_->values.data();
  }
  [[nodiscard]] T* hand_out() {
    T* p = write();
    if (block_ != nullptr) { block_->handed_out = true; }
    return p;
  }
  void seal() {
    if (block_ != nullptr) { block_->handed_out = false; }
  }

 private:
  struct block {
    explicit block(std::size_t n) : values(n) {}
    block(const block& other) : values(other.values) {}
    std::atomic<long> owners{1};
    bool handed_out = false;
    aligned_vector<T> values;
  };
  explicit shared_storage(block* b) : block_(b) {}

  block* block_ = nullptr;
};

// A buffer inside its object: nothing is allocated, a copy is a copy.
template <class T, std::size_t N>
class inline_storage {
 public:
  inline_storage() = default;
  explicit inline_storage(std::size_t) {}

  [[nodiscard]] const T* read() const { return values_.data(); }
  [[nodiscard]] T* write() { return values_.data(); }
  [[nodiscard]] T* hand_out() { return values_.data(); }
  void seal() {}

 private:
  alignas(alignment) xt::aligned_array<T, N == 0 ? 1 : N, alignment> values_;
};

template <class T, std::size_t StaticSize>
struct storage_for {
  static constexpr bool fits = StaticSize <= inline_bytes / sizeof(T);  // a run-time size is the largest number
  using type = std::conditional_t<fits, inline_storage<T, fits ? StaticSize : 1>, shared_storage<T>>;
};

}  // namespace dimwise::detail
