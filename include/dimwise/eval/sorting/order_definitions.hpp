// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/sorting/order_definitions.hpp -- the order of keys.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/expr/rows/sort.test.cpp, tests/eval/sorting/top_k.test.cpp
#pragma once

#include <dimwise/eval/sorting/order.hpp>

#include <algorithm>
#include <numeric>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY void sort_order(const std::uint64_t* keys, std::size_t n, std::size_t first,
                                       std::size_t* order) {
  std::iota(order, order + n, std::size_t{0});
  // Places as the second criterion keep equal keys in their order.
  const auto before = [keys](std::size_t i, std::size_t j) { return keys[i] != keys[j] ? keys[i] < keys[j] : i < j; };
  if (first < n) {
    std::partial_sort(order, order + first, order + n, before);
  } else {
    std::sort(order, order + n, before);
  }
}

}  // namespace dimwise::detail
