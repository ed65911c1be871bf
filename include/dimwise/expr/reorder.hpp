// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/reorder.hpp -- roll and flip: the elements of a dimension in another order; gather takes any order by
// ids.
//
// Layer: expr.
//
//   roll<seq>(x, 1)        element i of the result is element i - 1 of x, the first one is x's last
//
// Tests: tests/expr/reorder.test.cpp, tests/compile_fail/index/
#pragma once

#include <dimwise/expr/node.hpp>
#include <dimwise/shape/rules/reorder.hpp>

#include <concepts>

namespace dimwise {

namespace detail {

// The elements of D in another order.
template <class How, class D>
struct reorder {
  static constexpr const char* name = How::name;
  using how = How;
  using over = list<D>;
  std::size_t by = 0;  // element `by` of the result is element 0 of the operand
};
template <class Shape, class How, class D, class E>
using reordered = node<reorder<How, D>, Shape, value_of<E>, E>;

namespace orders {
struct roll {
  static constexpr const char* name = "roll";
};
struct flip {
  static constexpr const char* name = "flip";
};
}  // namespace orders

// n modulo the extent, between 0 and the extent; unsigned, as extents are.
template <std::integral N>
[[nodiscard]] constexpr std::size_t cyclic(N n, extent_t extent) {
  if (extent == 0) { return 0; }
  if (n >= 0) { return static_cast<std::size_t>(n) % extent; }
  const std::size_t back = (std::size_t{0} - static_cast<std::size_t>(n)) % extent;
  return back == 0 ? 0 : extent - back;
}

}  // namespace detail

namespace no_adl {

/// Element i of D is element i − n of `x`, cyclic: n of any size, negative ones turn the other way, as NumPy's `roll`.
///
///   [D, rest]  ->  [D, rest]
///
/// Composites are turned as the one order of elements that they are. Elements change places and keep what they are: D
/// has the positions that it had. Refuses packed positions, whose documents would run into each other (R19).
template <class D, operand X, std::integral N, class Verdict = rule::roll<D, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto roll(const X& x, N n) {
  return detail::reordered<typename Verdict::shape, detail::orders::roll, D, X>(
      {detail::cyclic(n, x.extents().template extent<D>())}, x.extents(), x);
}
template <class D, operand X, std::integral N, class Verdict = rule::roll<D, detail::shape_of<X>>>
  requires refused<Verdict>
Verdict roll(const X& x, N n);

/// The elements of D in reversed order, composites included; refuses packed positions (R19).
///
///   [D, rest]  ->  [D, rest]
template <class D, operand X, class Verdict = rule::flip<D, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto flip(const X& x) {
  return detail::reordered<typename Verdict::shape, detail::orders::flip, D, X>({}, x.extents(), x);
}
template <class D, operand X, class Verdict = rule::flip<D, detail::shape_of<X>>>
  requires refused<Verdict>
Verdict flip(const X& x);

}  // namespace no_adl

}  // namespace dimwise
