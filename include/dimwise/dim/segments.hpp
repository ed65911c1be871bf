// SPDX-License-Identifier: BSL-1.0
// dimwise/dim/segments.hpp -- the immutable, shared document lengths of a packed dimension.
//
// Layer: dim. Includes: small standard headers only: `shared_ptr<vector>` would triple the cost of dimwise/shape.hpp.
// Lengths are checked before the allocation: a wrapped length would let documents see each other.
// Tests: tests/shape/dim.test.cpp
#pragma once

#include <dimwise/dim/error.hpp>

#include <concepts>
#include <cstddef>
#include <new>
#include <utility>

namespace dimwise {

namespace detail {

template <class Length>
[[noreturn]] void throw_bad_length(Length n, std::size_t at, std::size_t before) {
  error e;
  e << "segments: the length of document " << at << " is ";
  if constexpr (std::signed_integral<Length>) {
    if (n < 0) {
      raise<extent_error>(e << static_cast<long long>(n) << ", lengths of 0 or more are expected (R15, R19)");
    }
  }
  raise<extent_error>(e << static_cast<std::size_t>(n) << " and the documents before it hold " << before
                        << " positions, a sum below 2^63 is expected (R15, R19)");
}

// A list of integers.
template <class Lengths>
concept lengths_of_documents = requires(const Lengths& l) {
  l.size();
  { *l.begin() } -> std::convertible_to<std::size_t>;
  l.end();
  requires std::integral<std::remove_cvref_t<decltype(*l.begin())>>;
};

}  // namespace detail

/// A shared, constant array of document lengths; empty for a dimension without documents.
class segments {
 public:
  segments() = default;
  /// Throws `extent_error` for a negative length, and for a total of 2^63 or more positions.
  template <detail::lengths_of_documents Lengths>
  explicit segments(const Lengths& lengths) {
    std::size_t total = 0;
    std::size_t count = 0;
    for (const auto n : lengths) {
      const auto length = static_cast<std::size_t>(n);
      if (n < 0 || length > most - total) { detail::throw_bad_length(n, count, total); }
      total += length;
      ++count;
    }
    block_ = new (::operator new(sizeof(block) + count * sizeof(std::size_t))) block{1, count, total};
    std::size_t* to = block_->lengths();
    for (const auto n : lengths) { *to++ = static_cast<std::size_t>(n); }
  }
  /// Copies share the lengths. Moving copies as well: a moved-from extent still has its documents.
  segments(const segments& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) { __atomic_add_fetch(&block_->owners, 1, __ATOMIC_RELAXED); }
  }
  segments& operator=(segments other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~segments() {
    if (block_ != nullptr && __atomic_sub_fetch(&block_->owners, 1, __ATOMIC_ACQ_REL) == 0) {
      ::operator delete(block_);
    }
  }

  /// Whether document lengths were given.
  [[nodiscard]] bool known() const { return block_ != nullptr; }
  /// The number of documents.
  [[nodiscard]] std::size_t size() const { return block_ == nullptr ? 0 : block_->count; }
  /// The number of positions in all documents.
  [[nodiscard]] std::size_t total() const { return block_ == nullptr ? 0 : block_->total; }
  /// The document lengths in order.
  [[nodiscard]] const std::size_t* begin() const { return block_ == nullptr ? nullptr : block_->lengths(); }
  [[nodiscard]] const std::size_t* end() const { return begin() + size(); }
  [[nodiscard]] friend bool operator==(const segments& a, const segments& b) {
    if (a.block_ == b.block_) { return true; }
    if (a.size() != b.size()) { return false; }
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a.begin()[i] != b.begin()[i]) { return false; }
    }
    return a.known() == b.known();
  }

 private:
  static constexpr std::size_t most = static_cast<std::size_t>(-1) / 2;
  // The lengths follow the header in one allocation.
  struct block {
    long owners;
    std::size_t count;
    std::size_t total;
    [[nodiscard]] std::size_t* lengths() { return reinterpret_cast<std::size_t*>(this + 1); }
  };
  block* block_ = nullptr;
};

}  // namespace dimwise
