// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/top_k_definitions.hpp -- the order of the largest numbers.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/eval/top_k.test.cpp
#pragma once

#include <dimwise/eval/top_k.hpp>

#include <algorithm>
#include <numeric>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY void sort_largest(const double* numbers, std::size_t n, std::size_t best, std::size_t* order) {
  std::iota(order, order + n, std::size_t{0});
  std::partial_sort(order, order + best, order + n, [numbers](std::size_t i, std::size_t j) {
    const double a = numbers[i];
    const double b = numbers[j];
    const bool a_nan = a != a;
    const bool b_nan = b != b;
    if (a_nan || b_nan) { return a_nan != b_nan ? a_nan : i < j; }
    return a != b ? a > b : i < j;
  });
}

}  // namespace dimwise::detail
