// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/memory/storage.hpp -- the memory of a tensor: 64-byte aligned, copied on write.
//
// Layer: tensor. Owns the memory of tensors, which comes from `block_pool`. Copies share a buffer, and the first write
// to a shared buffer copies it: an expression that holds its operands neither dangles nor changes its value. A buffer
// whose address was handed out for writing is copied instead of shared, because later writes to it cannot be detected.
// Tests: tests/tensor/memory/storage.test.cpp
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/support/atomic.hpp>
#include <dimwise/support/library.hpp>
#include <dimwise/tensor/memory/block_pool.hpp>
#include <dimwise/tensor/memory/counted.hpp>

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace dimwise::detail {

// Static tensors up to this size live inside their object: larger ones would make every node that holds them slow to
// copy.
inline constexpr std::size_t inline_bytes = 256;

// Loops instead of <algorithm>, which costs every file that includes it a tenth of a second.
template <class T>
void fill_elements(T* to, std::size_t n, const T& value) {
  for (T* const end = to + n; to != end; ++to) { *to = value; }
}
template <class T>
void copy_elements(const T* from, std::size_t n, T* to) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (n > 0) { std::memmove(to, from, n * sizeof(T)); }
}

using block_giver = void (*)(void* memory, std::size_t bytes) noexcept;

// Memory of the pool for n elements; the exception names their purpose.
DIMWISE_DETAIL_LIBRARY void* take_elements(std::size_t n, std::size_t bytes_of_one, const char* what);

// Aligned elements; numbers are uninitialised. They are freed to the pool that they came from: shared libraries with
// hidden symbols have one pool each, and tensors pass between them.
template <class T>
class aligned_vector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  using value_type = T;

  aligned_vector() = default;
  explicit aligned_vector(std::size_t n, const char* what = "a buffer of an evaluation")
      : begin_(static_cast<T*>(take_elements(n, sizeof(T), what))), size_(n), giver_(&block_pool::give) {
    if constexpr (!std::is_trivially_default_constructible_v<T>) { fill_elements(begin_, n, T{}); }
  }
  aligned_vector(const aligned_vector& other, const char* what = "a copy of elements")
      : aligned_vector(other.size_, what) {
    copy_elements(other.begin_, other.size_, begin_);
  }
  aligned_vector(aligned_vector&& other) noexcept
      : begin_(std::exchange(other.begin_, nullptr)), size_(std::exchange(other.size_, 0)), giver_(other.giver_) {}
  aligned_vector& operator=(aligned_vector other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(size_, other.size_);
    std::swap(giver_, other.giver_);
    return *this;
  }
  ~aligned_vector() {
    if (begin_ != nullptr) { giver_(begin_, size_ * sizeof(T)); }
  }

  /// Allocates `n` uninitialised elements; does nothing if the size is already `n`.
  void resize(std::size_t n) {
    if (n != size_) { *this = aligned_vector(n); }
  }

  [[nodiscard]] T* data() { return begin_; }
  [[nodiscard]] const T* data() const { return begin_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* begin() { return begin_; }
  [[nodiscard]] const T* begin() const { return begin_; }
  [[nodiscard]] T* end() { return begin_ + size_; }
  [[nodiscard]] const T* end() const { return begin_ + size_; }
  // The function that returns memory to the pool of these elements.
  [[nodiscard]] block_giver giver() const { return giver_; }
  [[nodiscard]] T& operator[](std::size_t i) { return begin_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return begin_[i]; }

 private:
  T* begin_ = nullptr;
  std::size_t size_ = 0;
  block_giver giver_ = nullptr;
};

// A copy of constant elements that the evaluator derives and reuses, such as packed weights. It is destroyed at the
// first write to the elements.
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
  ~derived_slot() { delete copy_.load_acquire(); }

  [[nodiscard]] const derived_copy* get() const { return copy_.load_acquire(); }
  // Stores `made` unless another thread was first; the copy stays until the elements are written.
  const derived_copy* offer(const derived_copy* made) {
    const derived_copy* none = nullptr;
    if (copy_.replace_acquire_release(none, made)) { return made; }
    delete made;
    return none;
  }
  // Returns true from the second use on: a single use does not justify a copy.
  [[nodiscard]] bool used_before() { return uses_.add_relaxed(1) > 0; }
  void drop() {
    delete copy_.exchange_acquire_release(nullptr);
    uses_.store_relaxed(0);
  }

 private:
  atomic_value<const derived_copy*> copy_{nullptr};
  atomic_value<int> uses_{0};
};

// A buffer with a run-time size, or one that is too large for its object.
//
// A handed-out buffer has one handle: copies of that handle copy the elements. Only the owner of the handle therefore
// writes `handed_out`, and threads that share a buffer only read it. A moved-from storage has no buffer until its next
// use; several threads may be the first to read it at the same time.
template <class T>
class shared_storage {
 public:
  shared_storage() = default;
  [[gnu::noinline]] explicit shared_storage(std::size_t n) : block_(new block(n)) {}
  // Not inlined: forming an expression copies dozens of handles.
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
  // Allocates a buffer of zeros if there is none.
  [[gnu::noinline]] void refill(std::size_t n) const {
    if (n == 0 || now() != nullptr) { return; }
    block* const made = new block(n);
    fill_elements(made->values.data(), n, T{});
    block* none = nullptr;
    if (!__atomic_compare_exchange_n(&block_, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) { delete made; }
  }
  void seal() {
    if (block_ != nullptr && block_->handed_out) { block_->handed_out = false; }
  }
  // A handle that keeps the buffer alive without a copy; empty if the owner may write in place, who then keeps it
  // alive.
  [[nodiscard]] shared_storage kept() const {
    const block* const b = now();
    return b == nullptr || b->handed_out ? shared_storage() : *this;
  }
  // The slot for a derived copy of constant elements; null while the elements may be written.
  [[nodiscard]] derived_slot* derived() const {
    block* const b = now();
    return b == nullptr || b->handed_out ? nullptr : &b->derived;
  }

 private:
  struct block {
    explicit block(std::size_t n) : values(n, "the elements of a tensor") {}
    block(const block& other) : values(other.values, "a copy of shared elements before a write") {}
    static void* operator new(std::size_t bytes) { return take_elements(1, bytes, "a tensor"); }
    static void operator delete(void* memory, std::size_t bytes) noexcept { block_pool::give(memory, bytes); }
    static void operator delete(block* b, std::destroying_delete_t) noexcept {
      const block_giver giver = b->values.giver();  // also frees the block
      b->~block();
      giver(b, sizeof(block));
    }

    owner_count owners{};
    bool handed_out = false;
    derived_slot derived{};
    aligned_vector<T> values;
  };
  explicit shared_storage(block* b) : block_(b) {}
  [[nodiscard]] block* now() const { return __atomic_load_n(&block_, __ATOMIC_ACQUIRE); }
  [[gnu::noinline]] static block* copy_of(const block& b) { return new block(b); }
  [[gnu::noinline]] static void end(block* b) noexcept { delete b; }

  mutable block* block_ = nullptr;  // `refill` sets it
};

// A buffer inside its object: it does not allocate, and copies are deep.
template <class T, std::size_t N>
class inline_storage {
 public:
  inline_storage() = default;
  explicit inline_storage(std::size_t) {}

  [[nodiscard]] const T* read() const { return values_; }
  [[nodiscard]] T* write() { return values_; }
  [[nodiscard]] T* hand_out() { return values_; }
  void refill(std::size_t) const {}
  void seal() {}
  [[nodiscard]] derived_slot* derived() const { return nullptr; }
  [[nodiscard]] shared_storage<T> kept() const { return {}; }

 private:
  alignas(alignment) T values_[N == 0 ? 1 : N];
};

template <class T, std::size_t StaticSize>
struct storage_for {
  static constexpr bool fits = StaticSize <= inline_bytes / sizeof(T);  // a run-time size is the largest number
  using type = std::conditional_t<fits, inline_storage<T, fits ? StaticSize : 1>, shared_storage<T>>;
};

#if DIMWISE_DETAIL_HAS_LIBRARY
DIMWISE_DETAIL_LIBRARY_TEMPLATE class aligned_vector<bool>;
DIMWISE_DETAIL_LIBRARY_TEMPLATE class aligned_vector<float>;
DIMWISE_DETAIL_LIBRARY_TEMPLATE class aligned_vector<double>;
DIMWISE_DETAIL_LIBRARY_TEMPLATE class aligned_vector<std::size_t>;
DIMWISE_DETAIL_LIBRARY_TEMPLATE class shared_storage<bool>;
DIMWISE_DETAIL_LIBRARY_TEMPLATE class shared_storage<float>;
DIMWISE_DETAIL_LIBRARY_TEMPLATE class shared_storage<double>;
#endif

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/tensor/memory/storage_definitions.hpp>
#endif
