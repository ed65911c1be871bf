// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/products/errors.hpp -- errors of operations on a product that name the mistake in the product itself.
//
// Layer: expr. A shape says that a product is raw; the expression still says that it was scaled by hand, or that both
// of its operands shared what a softmax was to go over. Asked only where a rule has refused: right programs instantiate
// nothing.
// Tests: tests/compile_fail/scale/by_hand.cpp, tests/compile_fail/reduce/contrastive_loss_of_pairs.cpp
#pragma once

#include <dimwise/expr/elements/elementwise.hpp>
#include <dimwise/expr/products/contract.hpp>

namespace dimwise::detail {

template <template <class> class Asked, class Operands>
inline constexpr bool any_operand = false;
template <template <class> class Asked, class... X>
inline constexpr bool any_operand<Asked, list<X...>> = (Asked<X>::value || ...);

// A raw product, below masks, biases and names, that was multiplied or divided.
template <class X>
consteval bool is_scaled_by_hand();
template <class X>
struct scaled_by_hand {
  static constexpr bool value = is_scaled_by_hand<X>();
};
template <class X>
consteval bool is_scaled_by_hand() {
  if constexpr (!operand<X>) {
    return false;
  } else if constexpr (marked_t<raw, marks_t<shape_of<X>>>::size == 0) {
    return false;
  } else if constexpr (std::is_same_v<operation_of<X>, apply<fn::multiply>> ||
                       std::is_same_v<operation_of<X>, apply<fn::divide>>) {
    return true;
  } else {
    return any_operand<scaled_by_hand, children_t<X>>;
  }
}

// The error about a product, below arithmetic and names, whose operands share all that they keep: one number for each
// pair.
template <class X>
struct product_of_pairs {
  using type = nothing;
};
template <class X>
using product_of_pairs_t = typename product_of_pairs<X>::type;
template <class Over, class Shape, class T, class A, class B>
struct product_of_pairs<node<product_over<Over>, Shape, T, A, B>> {
  using a = shape_of<A>;
  using b = shape_of<B>;
  using facts = product_facts<Over, list<>, a, b>;
  using type =
      either_t<gives_pairs<facts>,
               ERROR_R2_shared_dimension_pairs_elements_one_to_one<op::contract, over_t<typename facts::shared>,
                                                                   lhs_t<a>, rhs_t<b>>,
               nothing>;
};
template <class... X>
struct first_of_pairs {
  using type = nothing;
};
template <class First, class... Rest>
struct first_of_pairs<First, Rest...>
    : either_t<std::is_same_v<product_of_pairs_t<First>, nothing>, first_of_pairs<Rest...>, product_of_pairs<First>> {};
template <class Op, class Shape, class T, class... X>
struct product_of_pairs<node<Op, Shape, T, X...>> : first_of_pairs<X...> {};

template <class Verdict, class... X>
struct told_of_product {
  using type = Verdict;
};
template <class... Facts, class... X>
struct told_of_product<ERROR_R6_raw_products_are_scaled_first<Facts...>, X...> {
  using type =
      either_t<any_operand<scaled_by_hand, list<X...>>, ERROR_R6_raw_product_was_multiplied_instead_of_scaled<Facts...>,
               ERROR_R6_raw_products_are_scaled_first<Facts...>>;
};
template <class... Facts, class X, class... Rest>
struct told_of_product<ERROR_R1_dimension_is_not_in_the_operand<Facts...>, X, Rest...> {
  using pairs = product_of_pairs_t<X>;
  using type = either_t<std::is_same_v<pairs, nothing>, ERROR_R1_dimension_is_not_in_the_operand<Facts...>, pairs>;
};

// The verdict on an operation that computes with scores or logits.
template <class Op, class Verdict, class... X>
using of_scores = typename told_of_product<of_numbers<Op, Verdict, X...>, X...>::type;

}  // namespace dimwise::detail
