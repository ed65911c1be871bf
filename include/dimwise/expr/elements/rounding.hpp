// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/elements/rounding.hpp -- numbers rounded to a low precision: what is given to a product with quantised
// weights.
//
// Layer: expr. The values are floats. Products with weights of as many bits read the numbers in these bits.
// Tests: tests/expr/elements/rounding.test.cpp, tests/compile_fail/elements/
//
//   contract<d_model>(rounded<bfloat16>(x), widened(w))            products of bfloat16, summed in float
//   contract<d_model>(quantised<d_model>(x), dequantised(w, s))    products of int8, summed in whole numbers by block
#pragma once

#include <dimwise/expr/elements/widen.hpp>
#include <dimwise/expr/rows/reduce.hpp>

namespace dimwise {

namespace detail::calls {

struct rounded {
  template <class To, operand X>
    requires(is_half_precision<To>)
  static auto judge(list<To>, const X&)
      -> of_constants<op::rounded, of_numbers<op::rounded, rule::norm<op::rounded, list<>, shape_of<X>>, X>, X>;
  template <class Verdict, class To, operand X>
  static auto make(list<To>, const X& x) {
    return make_elementwise<Verdict, value_of<X>>("rounded", fn::rounded<To>{}, x);
  }
};
struct quantised : over_dimensions<op::quantised> {
  using over_dimensions<op::quantised>::judge;
  template <class... D, operand X>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...>, const X&)
      -> of_constants<op::quantised, of_numbers<op::quantised, rule::norm<op::quantised, list<D...>, shape_of<X>>, X>,
                      X>;
  template <class Verdict, class... D, operand X>
  static auto make(list<D...>, const X& x) {
    return make_rows<typename Verdict::shape, rows::quantised, list<D...>>(x);
  }
};

}  // namespace detail::calls

namespace no_adl {

/// The numbers of 16 bits that are nearest to x, ties to even, as floats: `rounded<bfloat16>(x)`,
/// `rounded<float16>(x)`.
///
///   rounded<T>(x):  [D…]  ->  [D…]
///
/// Rejects masked operands (R7), ids and stored numbers (R13, R18), tracked ones (R21).
DIMWISE_DETAIL_OPERATION(rounded)

/// x as 8 bits hold it in blocks of 32 neighbours along D…, the last of D… fastest: multiples of a block's largest
/// magnitude / 127, the nearest ones, ties to even (Dettmers et al. 2022, block-wise quantization). A block that holds
/// what is not finite is NaN.
///
///   quantised<D…>(x):  [D…, rest]  ->  [D…, rest]
///
/// Rejects masked operands (R7), ids and stored numbers (R13, R18), tracked ones (R21), and a call without D (R1).
DIMWISE_DETAIL_OPERATION(quantised)

}  // namespace no_adl

}  // namespace dimwise
