// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/storage.hpp -- the memory of a tensor: xtensor's containers, 64-byte aligned, shared until written.
//
// Layer: tensor. The only place that owns memory, which `block_pool` takes and gives back.
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

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

#include <dimwise/dim/error.hpp>
#include <dimwise/tensor/block_pool.hpp>

#include <xtensor/xstorage.hpp>

namespace dimwise::detail {

// Static tensors up to this many bytes live inside their object: larger ones would make every node that holds them slow
// to copy.
inline constexpr std::size_t inline_bytes = 256;

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
    return static_cast<T*>(block_pool::take(n * sizeof(T)));
  }
  void deallocate(T* p, std::size_t n) noexcept { block_pool::give(p, n * sizeof(T)); }
  [[nodiscard]] friend bool operator==(const aligned_allocator&, const aligned_allocator&) { return true; }
};

template <class T>
using aligned_vector = xt::uvector<T, aligned_allocator<T>>;

// What the evaluator may keep beside constant elements that it uses again and again: weights in the order that a kernel
// reads them. It ends with the first write.
class derived_copy {
 public:
  derived_copy() = default;
  derived_copy(const derived_copy&) = delete;
  derived_copy& operator=(const derived_copy&) = delete;
  virtual ~derived_copy() = default;
};

class derived_slot {
 public:
  derived_slot() = default;
  derived_slot(const derived_slot&) = delete;
  derived_slot& operator=(const derived_slot&) = delete;
  ~derived_slot() { delete copy_.load(std::memory_order_acquire); }

  [[nodiscard]] const derived_copy* get() const { return copy_.load(std::memory_order_acquire); }
  // Takes `made` unless another thread was first; what is kept stays until the elements are written.
  const derived_copy* offer(const derived_copy* made) {
    const derived_copy* none = nullptr;
    if (copy_.compare_exchange_strong(none, made, std::memory_order_acq_rel)) { return made; }
    delete made;
    return none;
  }
  // True from the second time on: what is used once is not worth a copy.
  [[nodiscard]] bool used_before() { return uses_.fetch_add(1, std::memory_order_relaxed) > 0; }
  void drop() {
    delete copy_.exchange(nullptr, std::memory_order_acq_rel);
    uses_.store(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<const derived_copy*> copy_{nullptr};
  std::atomic<int> uses_{0};
};

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

// A buffer whose extent is known only when the program runs, or that is too large for its object.
//
// A buffer that was handed out has one handle: copies of that handle copy the elements. So `handed_out` is written by
// the owner of that handle alone, and threads that share a buffer only read it. What was moved from has no buffer until
// it is used again; threads may be the first to read it at the same time.
template <class T>
class shared_storage {
 public:
  shared_storage() = default;
  [[gnu::noinline]] explicit shared_storage(std::size_t n) : block_(new block(n)) {}
  // Forming an expression copies dozens of handles: not a part of every function that forms one.
  [[gnu::noinline]] shared_storage(const shared_storage& other) : block_(other.now()) {
    if (block_ == nullptr) { return; }
    if (block_->handed_out) {
      block_ = copy_of(*block_);
    } else {
      block_->owners.add();
    }
  }
  shared_storage(shared_storage&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  shared_storage& operator=(shared_storage other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~shared_storage() {
    if (block_ != nullptr && block_->owners.drop()) { end(block_); }
  }

  [[nodiscard]] const T* read() const {
    const block* const b = now();
    return b == nullptr ? nullptr : b->values.data();
  }
  [[nodiscard, gnu::noinline]] T* write() {
    if (block_ == nullptr) { return nullptr; }
    if (!block_->owners.is_one()) {
      *this = shared_storage(new block(*block_));
    } else {
      block_->derived.drop();
    }
    return block_->values.data();
  }
  [[nodiscard]] T* hand_out() {
    T* p = write();
    if (block_ != nullptr) { block_->handed_out = true; }
    return p;
  }
  // A buffer of zeros where there is none.
  [[gnu::noinline]] void refill(std::size_t n) const {
    if (n == 0 || now() != nullptr) { return; }
    block* const made = new block(n);
    std::fill_n(made->values.data(), n, T{});
    block* none = nullptr;
    if (!__atomic_compare_exchange_n(&block_, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) { delete made; }
  }
  void seal() {
    if (block_ != nullptr && block_->handed_out) { block_->handed_out = false; }
  }
  // The buffer kept alive without a copy; nothing where its owner may write it in place, and so keeps it.
  [[nodiscard]] shared_storage kept() const {
    const block* const b = now();
    return b == nullptr || b->handed_out ? shared_storage() : *this;
  }
  // Where a copy of constant elements may be kept; nowhere while somebody may write them.
  [[nodiscard]] derived_slot* derived() const {
    block* const b = now();
    return b == nullptr || b->handed_out ? nullptr : &b->derived;
  }

 private:
  struct block {
    explicit block(std::size_t n) : values(n) {}
    block(const block& other) : values(other.values) {}
    static void* operator new(std::size_t bytes) { return block_pool::take(bytes); }
    static void operator delete(void* memory, std::size_t bytes) noexcept { block_pool::give(memory, bytes); }

    owner_count owners;
    bool handed_out = false;
    derived_slot derived;
    aligned_vector<T> values;
  };
  explicit shared_storage(block* b) : block_(b) {}
  [[nodiscard]] block* now() const { return __atomic_load_n(&block_, __ATOMIC_ACQUIRE); }
  [[gnu::noinline]] static block* copy_of(const block& b) { return new block(b); }
  [[gnu::noinline]] static void end(block* b) noexcept { delete b; }

  mutable block* block_ = nullptr;  // `refill` sets it
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
  void refill(std::size_t) const {}
  void seal() {}
  [[nodiscard]] derived_slot* derived() const { return nullptr; }
  [[nodiscard]] shared_storage<T> kept() const { return {}; }

 private:
  alignas(alignment) xt::aligned_array<T, N == 0 ? 1 : N, alignment> values_;
};

template <class T, std::size_t StaticSize>
struct storage_for {
  static constexpr bool fits = StaticSize <= inline_bytes / sizeof(T);  // a run-time size is the largest number
  using type = std::conditional_t<fits, inline_storage<T, fits ? StaticSize : 1>, shared_storage<T>>;
};

}  // namespace dimwise::detail
