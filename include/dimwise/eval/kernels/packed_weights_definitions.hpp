// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/packed_weights_definitions.hpp -- when weights are packed, and which product reads them.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/nn/pack_weights.test.cpp
#pragma once

#include <dimwise/eval/kernels/packed_weights.hpp>
#include <dimwise/kernels/dispatch/active.hpp>

namespace dimwise::detail {

// Weights as the product kernel reads them, kept beside the tensor that they come from.
template <class T>
class packed_weights : public derived_copy {
 public:
  using table_type = kernels::active_kernels_for<T>;
  using call_type = kernels::product_call_of<T>;

  packed_weights(const table_type& table, const call_type& c, const T* b) : for_(key(table, c, b)) {
    elements_ = aligned_vector<T>(table.packed_bytes(c.k, c.n) / sizeof(T));
    table.pack(c.k, c.n, b, c.b_row, c.b_column, elements_.data());
  }
  [[nodiscard]] const T* elements_for(const table_type& table, const call_type& c, const T* b) const {
    return for_ == key(table, c, b) ? elements_.data() : nullptr;
  }

 private:
  struct origin {
    const table_type* table;
    const T* b;
    std::size_t k;
    std::size_t n;
    std::ptrdiff_t row;
    std::ptrdiff_t column;
    bool operator==(const origin&) const = default;
  };
  static origin key(const table_type& table, const call_type& c, const T* b) {
    return {&table, b, c.k, c.n, c.b_row, c.b_column};
  }

  origin for_;
  aligned_vector<T> elements_{};
};

// Below this number of rows the weights are read in place: packing pays where arithmetic is the bound.
inline constexpr std::size_t least_packed_rows = 16;
// Whether packing pays for a weight of k x n: not for a vector, nor for less than a register of columns.
constexpr bool may_be_packed(std::size_t k, std::size_t n) { return k > 1 && n >= 8; }

template <class T>
const T* packed_or_none(const kernels::active_kernels_for<T>& table, const kernels::product_call_of<T>& c,
                        derived_slot* slot) {
  if (slot == nullptr || c.m < least_packed_rows || !may_be_packed(c.k, c.n)) { return nullptr; }
  const T* b = c.problems[0].b;
  const derived_copy* kept = slot->get();
  if (kept == nullptr) {
    if (!slot->used_before()) { return nullptr; }
    kept = slot->offer(new packed_weights<T>(table, c, b));
  }
  return static_cast<const packed_weights<T>*>(kept)->elements_for(table, c, b);
}

template <class T>
std::size_t pack_weight(derived_slot& slot, std::size_t k, std::size_t n, const T* b) {
  if (!may_be_packed(k, n)) { return 0; }
  const auto& table = kernels::active_for<T>();
  if (slot.get() == nullptr) {
    kernels::product_call_of<T> call{};
    call.k = k;
    call.n = n;
    call.b_row = static_cast<std::ptrdiff_t>(n);
    call.b_column = 1;
    (void)slot.offer(new packed_weights<T>(table, call, b));
  }
  return table.packed_bytes(k, n);
}

}  // namespace dimwise::detail
