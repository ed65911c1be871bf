// SPDX-License-Identifier: BSL-1.0
// dimwise/dim/segments.hpp -- the lengths of the documents that a packed dimension holds, shared and never changed.
//
// Layer: dim. Includes: small standard headers only: `shared_ptr<vector>` would triple the cost of dimwise/shape.hpp.
// Tests: tests/shape/dim.test.cpp
#pragma once

#include <cstddef>
#include <utility>

namespace dimwise {

/// A shared, constant array of document lengths; empty where a dimension has no documents.
class segments {
 public:
  segments() = default;
  template <class Lengths>
  explicit segments(const Lengths& lengths) : block_(new block) {
    block_->lengths = new std::size_t[lengths.size() == 0 ? 1 : lengths.size()];
    for (const auto& n : lengths) {
      block_->lengths[block_->count++] = static_cast<std::size_t>(n);
      block_->total += static_cast<std::size_t>(n);
    }
  }
  segments(const segments& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) { __atomic_add_fetch(&block_->owners, 1, __ATOMIC_RELAXED); }
  }
  segments(segments&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  segments& operator=(segments other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~segments() {
    if (block_ != nullptr && __atomic_sub_fetch(&block_->owners, 1, __ATOMIC_ACQ_REL) == 0) {
      delete[] block_->lengths;
      delete block_;
    }
  }

  /// True where documents were given.
  [[nodiscard]] bool known() const { return block_ != nullptr; }
  [[nodiscard]] std::size_t size() const { return block_ == nullptr ? 0 : block_->count; }
  /// The number of positions in all documents together.
  [[nodiscard]] std::size_t total() const { return block_ == nullptr ? 0 : block_->total; }
  [[nodiscard]] const std::size_t* begin() const { return block_ == nullptr ? nullptr : block_->lengths; }
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
  struct block {
    long owners = 1;
    std::size_t count = 0;
    std::size_t total = 0;
    std::size_t* lengths = nullptr;
  };
  block* block_ = nullptr;
};

}  // namespace dimwise
