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
#include <bit>
#include <cstddef>
#include <limits>
#include <new>
#include <utility>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

#include <dimwise/dim/error.hpp>
#include <dimwise/tensor/large_pages.hpp>

#include <xtensor/xstorage.hpp>

namespace dimwise::detail {

// Static tensors up to this many bytes live inside their object: larger ones would make every node that holds them slow
// to copy.
inline constexpr std::size_t inline_bytes = 256;

// What a thread keeps. Without a destructor, so that taking a block asks nothing: `block_pool::closer` empties it.
struct kept_blocks {
  static constexpr std::size_t capacity = 512;
  static constexpr std::size_t size_classes = 9;
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
  enum class phase : unsigned char { before, open, closed };
  struct link {
    link* next;
  };
  struct small_list {
    link* first = nullptr;
    std::size_t count = 0;
  };
  struct block {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  small_list small[size_classes];
  block large[capacity];  // as they were given, the oldest first
  std::size_t count = 0;
  std::size_t total = 0;  // bytes of all blocks
  std::size_t limit = no_limit;
  std::size_t missed = 0;
  phase now = phase::before;
};

// Blocks that this thread gave back, for its next evaluation. An aligned small block costs the system allocator more
// than a small product costs the processor; pages of a large one are mapped and cleared anew each time, a fifth of a
// small layer and half of a training step. Small sizes are powers of two, one list for each. Where no limit was said,
// what all threads keep and use is at most a sixteenth and 8 MiB for each thread above the most that they ever used: a
// step of training finds most of the last one's blocks. The oldest go first.
class block_pool {
 public:
  static constexpr std::size_t small_bytes = std::size_t{1} << 14;
  static constexpr std::size_t most_bytes = std::numeric_limits<std::size_t>::max() / 2;
  static constexpr std::size_t kept_of_a_size = std::size_t{1} << 16;
  static_assert(weights_together::least_bytes > small_bytes);
  static constexpr std::size_t slack = std::size_t{1} << 23;

  // A block's size in the pool: what is given back fits whatever rounds to the same.
  static constexpr std::size_t rounded(std::size_t bytes) {
    if (bytes > most_bytes) { return bytes; }
    if (bytes <= small_bytes) { return bytes <= alignment ? alignment : std::bit_ceil(bytes); }
    std::size_t step = small_bytes;
    while (step * 16 < bytes) { step *= 2; }
    return (bytes + step - 1) / step * step;
  }
  // `bytes` is a result of `rounded`.
  static void* take(std::size_t bytes) {
    if (bytes <= small_bytes) {
      kept_blocks::small_list& list = kept.small[size_class(bytes)];
      if (link* const first = list.first) {
        list.first = first->next;
        --list.count;
        kept.total -= bytes;
        return first;
      }
      return take_from_system(bytes);
    }
    // Weights that are taken together lie side by side, but for those that find a kept block of their size.
    const bool together = keeps_blocks && weights_together::takes(bytes);
    void* memory = !together || weights_together::takes_kept() ? take_kept(bytes) : nullptr;
    if (memory == nullptr) { memory = together ? weights_together::take(bytes) : take_new(bytes); }
    const std::size_t live = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::size_t before = most_in_use.load(std::memory_order_relaxed);
    while (before < live && !most_in_use.compare_exchange_weak(before, live, std::memory_order_relaxed)) {}
    return memory;
  }
  static void give(void* memory, std::size_t bytes) noexcept {
    if (memory == nullptr) { return; }
    if (bytes > small_bytes) {
      in_use.fetch_sub(bytes, std::memory_order_relaxed);
      if (keeps_blocks && bytes <= most_bytes && opened()) {
        std::size_t first = kept.count == kept_blocks::capacity ? 1 : 0;
        std::size_t freed = first == 1 ? kept.large[0].bytes : 0;
        const std::size_t left = room(0);
        while (bytes > left + freed && first < kept.count) { freed += kept.large[first++].bytes; }
        if (bytes <= left + freed) {
          drop_oldest(first);
          kept.large[kept.count++] = {memory, bytes};
          kept.total += bytes;
          all_kept.fetch_add(bytes, std::memory_order_relaxed);
          return;
        }
      }
    } else if (keeps_blocks && opened()) {
      if (kept_blocks::small_list& list = kept.small[size_class(bytes)];
          (list.count + 1) * bytes <= kept_of_a_size && kept.total + bytes <= kept.limit) {
        list.first = new (memory) link{list.first};
        ++list.count;
        kept.total += bytes;
        return;
      }
    }
    release(memory, bytes);
  }
  // Gives all blocks back to the system; returns how many bytes they had. What was in use before does not count.
  static std::size_t trim() noexcept {
    most_in_use = in_use.load();
    return give_back_all();
  }
  static std::size_t bytes() noexcept { return kept.total; }
  // The most bytes of large blocks that were in use at once, in all threads, since the last `trim`.
  static std::size_t peak() noexcept { return most_in_use; }
  // How many large blocks were not found among those that are kept.
  static std::size_t taken_from_system() noexcept { return kept.missed; }
  static void limit(std::size_t bytes) noexcept {
    kept.limit = bytes;
    if (kept.total > bytes) { give_back_all(); }
  }

 private:
  using link = kept_blocks::link;
  using phase = kept_blocks::phase;
  static_assert(alignment << (kept_blocks::size_classes - 1) == small_bytes);
  static constinit inline thread_local kept_blocks kept{};
  // Bytes of large blocks of all threads: a block may be given back by another thread than the one that took it.
  static constinit inline std::atomic<std::size_t> in_use{0};
  static constinit inline std::atomic<std::size_t> most_in_use{0};
  static constinit inline std::atomic<std::size_t> all_kept{0};
  struct closer {
    ~closer() {
      give_back_all();
      kept.now = phase::closed;  // tensors of static storage die later than their thread's pool
    }
  };

  // How many bytes may be kept besides, once `more` are in use besides.
  static std::size_t room(std::size_t more) noexcept {
    if (kept.limit != kept_blocks::no_limit) { return kept.limit - std::min(kept.limit, kept.total); }
    const std::size_t live = in_use.load(std::memory_order_relaxed) + more;
    const std::size_t most = std::max(most_in_use.load(std::memory_order_relaxed), live);
    const std::size_t may = most - live + most / 16 + slack;
    const std::size_t kept_by_all = all_kept.load(std::memory_order_relaxed);
    // What one thread keeps leaves the others, as the workers of an executor, their own scratch.
    return std::max(may - std::min(may, kept_by_all), slack - std::min(slack, kept.total));
  }
  static void release(void* memory, std::size_t bytes) noexcept {
    if (!weights_together::give(memory, bytes)) { give_to_system(memory, bytes); }
  }
  static constexpr std::size_t size_class(std::size_t bytes) {
    return static_cast<std::size_t>(std::countr_zero(bytes / alignment));
  }
  static bool opened() noexcept {
    if (kept.now == phase::before) {
      static thread_local const closer at_end;
      (void)at_end;
      kept.now = phase::open;
    }
    return kept.now == phase::open;
  }
  static void* take_kept(std::size_t bytes) {
    for (std::size_t i = kept.count; i-- > 0;) {
      if (kept.large[i].bytes != bytes) { continue; }
      void* const memory = kept.large[i].memory;
      std::copy(kept.large + i + 1, kept.large + kept.count, kept.large + i);
      --kept.count;
      kept.total -= bytes;
      all_kept.fetch_sub(bytes, std::memory_order_relaxed);
      return memory;
    }
    return nullptr;
  }
  static void* take_new(std::size_t bytes) {
    make_room(bytes);
    ++kept.missed;
    return take_from_system(bytes);
  }
  // Before the system gives `bytes`: what is kept and what is in use do not grow beyond what is allowed.
  static void make_room(std::size_t bytes) noexcept {
    while (kept.count > 0 && kept.limit == kept_blocks::no_limit && room(bytes) == 0) { drop_oldest(1); }
  }
  static std::size_t give_back_all() noexcept {
    const std::size_t bytes = kept.total;
    std::size_t size = alignment;
    for (kept_blocks::small_list& list : kept.small) {
      while (link* const first = list.first) {
        list.first = first->next;
        release(first, size);
      }
      list.count = 0;
      size *= 2;
    }
    drop_oldest(kept.count);
    kept.total = 0;
    return bytes;
  }
  static void drop_oldest(std::size_t count) noexcept {
    if (count == 0) { return; }
    for (std::size_t i = 0; i < count; ++i) {
      kept.total -= kept.large[i].bytes;
      all_kept.fetch_sub(kept.large[i].bytes, std::memory_order_relaxed);
      release(kept.large[i].memory, kept.large[i].bytes);
    }
    std::copy(kept.large + count, kept.large + kept.count, kept.large);
    kept.count -= count;
  }
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
  explicit shared_storage(std::size_t n) : block_(new block(n)) {}
  // Forming an expression copies dozens of handles: what is rare stands elsewhere.
  shared_storage(const shared_storage& other) : block_(other.now()) {
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
  [[nodiscard]] T* write() {
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
    static void* operator new(std::size_t bytes) { return block_pool::take(block_pool::rounded(bytes)); }
    static void operator delete(void* memory, std::size_t bytes) noexcept {
      block_pool::give(memory, block_pool::rounded(bytes));
    }

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
