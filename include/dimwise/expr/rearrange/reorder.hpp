// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/rearrange/reorder.hpp -- roll and flip: the elements of a dimension in another order; gather takes any
// order by ids.
//
// Layer: expr.
//
//   roll<seq>(x, 1)        element i of the result is element i - 1 of x, the first one is x's last
//
// Tests: tests/expr/rearrange/reorder.test.cpp, tests/compile_fail/index/
#pragma once

#include <dimwise/expr/node.hpp>
#include <dimwise/expr/operation.hpp>
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

// ---- the calls ------------------------------------------------------------------------------------------------------

namespace calls {

struct roll {
  template <class D, operand X, std::integral N>
  static auto judge(list<D>, const X&, N) -> rule::roll<D, shape_of<X>>;
  template <class Verdict, class D, operand X, std::integral N>
  static auto make(list<D>, const X& x, N n) {
    return reordered<typename Verdict::shape, orders::roll, D, X>({cyclic(n, x.extents().template extent<D>())},
                                                                  x.extents(), x);
  }
};
struct flip {
  template <class D, operand X>
  static auto judge(list<D>, const X&) -> rule::flip<D, shape_of<X>>;
  template <class Verdict, class D, operand X>
  static auto make(list<D>, const X& x) {
    return reordered<typename Verdict::shape, orders::flip, D, X>({}, x.extents(), x);
  }
};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// Element i of D is element i − n of `x`, cyclic: n of any size, negative ones turn the other way, as NumPy's `roll`.
///
///   roll<D>(x, n):  [D, rest]  ->  [D, rest]
///
/// Composites are turned as the one order of elements that they are. Elements change places and keep what they are: D
/// has the positions that it had. Rejects packed positions, whose documents would run into each other (R19).
DIMWISE_DETAIL_OPERATION(roll)

/// The elements of D in reversed order, composites included; rejects packed positions (R19).
///
///   flip<D>(x):  [D, rest]  ->  [D, rest]
DIMWISE_DETAIL_OPERATION(flip)

}  // namespace no_adl

}  // namespace dimwise
