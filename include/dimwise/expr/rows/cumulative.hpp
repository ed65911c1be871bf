// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/rows/cumulative.hpp -- cumsum and cumprod: sums and products of the elements up to each one.
//
// Layer: expr.
// Tests: tests/expr/rows/reduce.test.cpp, tests/compile_fail/reduce/
#pragma once

#include <dimwise/expr/rows/reduce.hpp>

namespace dimwise {

namespace detail::calls {

// A row becomes a row along one dimension.
template <class Op, class How, template <class, class> class Judged>
struct cumulative_word : over_dimensions<Op> {
  using over_dimensions<Op>::judge;
  template <class D, operand X>
  static auto judge(list<D>, const X&) -> of_numbers<Op, Judged<list<D>, shape_of<X>>, X>;
  template <class Verdict, class D, operand X>
  [[gnu::always_inline]] static auto make(list<D>, const X& x) {
    return make_rows<typename Verdict::shape, How, list<D>>(x);
  }
};
struct cumsum : cumulative_word<op::cumsum, rows::cumsum, rule::cumsum> {};
struct cumprod : cumulative_word<op::cumprod, rows::cumprod, rule::cumprod> {};

}  // namespace detail::calls

namespace no_adl {

/// Cumulative sums along an ordered dimension (R13): element i is the sum of the elements 0 … i.
///
///   cumsum<D>(x):  [D, rest]  ->  [D, rest]
///
/// The rounding error grows like the logarithm of the number of terms. Rejects masked operands (R7) and packed
/// positions (R19).
DIMWISE_DETAIL_OPERATION(cumsum)
template <class D, operand X>
[[deprecated("use cumsum"), nodiscard]] auto scan(const X& x) -> decltype(cumsum<D>(x)) {
  return cumsum<D>(x);
}
/// Cumulative products along an ordered dimension (R13): element i is the product of the elements 0 … i. The gradient
/// needs no division: it is exact beside zeros.
///
///   cumprod<D>(x):  [D, rest]  ->  [D, rest]
///
/// Rejects masked operands (R7) and packed positions (R19).
DIMWISE_DETAIL_OPERATION(cumprod)

}  // namespace no_adl

}  // namespace dimwise
