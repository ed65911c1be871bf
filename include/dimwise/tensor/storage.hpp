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

// Blocks of middle size that this thread gave back, for its next evaluation: the system maps and clears pages anew for each
// of them otherwise, a fifth of the time of a small layer. At most `kept_bytes` wait here.
class block_pool {
 public:
  static constexpr std::size_t least_bytes = std::size_t{1} << 14;
  static constexpr std::size_t most_bytes = std::size_t{1} << 23;
  static constexpr std::size_t kept_bytes = std::size_t{1} << 25;

  block_pool() { open() = true; }
  block_pool(const block_pool&) = delete;
  block_pool& operator=(const block_pool&) = delete;
  ~block_pool() {
    open() = false;
    for (std::size_t i = 0; i < count_; ++i) { ::operator delete(blocks_[i].memory, std::align_val_t{alignment}); }
  }

  // A block's size in the pool: what is given back fits whatever rounds to the same.
  static std::size_t rounded(std::size_t bytes) {
    if (bytes < least_bytes || bytes > most_bytes) { return bytes; }
    std::size_t step = least_bytes;
    while (step * 16 < bytes) { step *= 2; }
    return (bytes + step - 1) / step * step;
  }
  static void* take(std::size_t bytes) {
    if (block_pool* pool = of_thread(bytes)) {
      for (std::size_t i = pool->count_; i-- > 0;) {
        if (pool->blocks_[i].bytes != bytes) { continue; }
        void* memory = pool->blocks_[i].memory;
        pool->blocks_[i] = pool->blocks_[--pool->count_];
        pool->total_ -= bytes;
        return memory;
      }
    }
    return ::operator new(bytes, std::align_val_t{alignment});
  }
  static void give(void* memory, std::size_t bytes) noexcept {
    if (block_pool* pool = of_thread(bytes); pool != nullptr && pool->count_ < capacity && pool->total_ + bytes <= kept_bytes) {
      pool->blocks_[pool->count_++] = {memory, bytes};
      pool->total_ += bytes;
      return;
    }
    ::operator delete(memory, std::align_val_t{alignment});
  }

 private:
  static constexpr std::size_t capacity = 32;
  struct block {
    void* memory;
    std::size_t bytes;
  };

  // Tensors of static storage die after their thread's pool.
  static bool& open() {
    static thread_local bool is_open = false;
    return is_open;
  }
  static block_pool* of_thread(std::size_t bytes) noexcept {
    if (bytes < least_bytes || bytes > most_bytes) { return nullptr; }
    static thread_local block_pool pool;
    return open() ? &pool : nullptr;
  }

  block blocks_[capacity];
  std::size_t count_ = 0;
  std::size_t total_ = 0;
};

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
    return static_cast<T*>(block_pool::take(block_pool::rounded(n * sizeof(T))));
  }
  void deallocate(T* p, std::size_t n) noexcept { block_pool::give(p, block_pool::rounded(n * sizeof(T))); }
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
    if (block_->owners.load(std::memory_order_acquire) != 1) {
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
  void seal() {
    if (block_ != nullptr) { block_->handed_out = false; }
  }
  // Another handle of the same buffer, or the buffer itself where it may not be shared.
  [[nodiscard]] shared_storage shared() noexcept { return block_ == nullptr || block_->handed_out ? shared_storage(std::exchange(block_, nullptr)) : *this; }
  // The buffer kept alive without a copy; nothing where its owner may write it in place, and so keeps it.
  [[nodiscard]] shared_storage kept() const { return block_ == nullptr || block_->handed_out ? shared_storage() : *this; }
  // Where a copy of constant elements may be kept; nowhere while somebody may write them.
  [[nodiscard]] derived_slot* derived() const { return block_ == nullptr || block_->handed_out ? nullptr : &block_->derived; }

 private:
  struct block {
    explicit block(std::size_t n) : values(n) {}
    block(const block& other) : values(other.values) {}
    std::atomic<long> owners{1};
    bool handed_out = false;
    derived_slot derived;
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
  [[nodiscard]] derived_slot* derived() const { return nullptr; }
  [[nodiscard]] inline_storage shared() noexcept { return *this; }
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
