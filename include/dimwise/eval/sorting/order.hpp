// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/sorting/order.hpp -- the order of the elements of a row: for sort, argsort, top_k and the gradient of
// sort.
//
// Layer: eval. A number becomes a key, an unsigned integer in the same order. So one function, which the library
// contains, sorts all types of elements, up and down.
// Tests: tests/expr/rows/sort.test.cpp, tests/eval/sorting/top_k.test.cpp
#pragma once

#include <dimwise/support/library.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace dimwise::detail {

// The smaller number has the smaller key, zeros of both signs have the same, and NaN has the largest.
template <std::floating_point T>
std::uint64_t sort_key(T x) {
  static_assert(sizeof(T) <= sizeof(double), "dimwise: a double holds the element exactly");
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if (x != x) { return std::numeric_limits<std::uint64_t>::max(); }
  const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(x) + 0.0);  // −0 + 0 is 0
  return (bits & sign) != 0 ? ~bits : bits | sign;
}
template <std::integral T>
std::uint64_t sort_key(T x) {
  if constexpr (std::signed_integral<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)) ^ (std::uint64_t{1} << 63);
  } else {
    return x;
  }
}
template <bool Descending, class T>
std::uint64_t sort_key_of(T x) {
  return Descending ? ~sort_key(x) : sort_key(x);
}

// `order` begins with the places of the `first` smallest of n keys, in ascending order; of equal keys the first is
// first. `order` has room for n.
DIMWISE_DETAIL_LIBRARY void sort_order(const std::uint64_t* keys, std::size_t n, std::size_t first, std::size_t* order);

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/sorting/order_definitions.hpp>
#endif
