// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/product_errors.hpp -- errors of what comes after a product that name what is wrong with the product itself.
//
// Layer: expr. A shape says that a product is raw; the expression still says that it was scaled by hand, or that both of its
// operands shared what a softmax was to go over. Asked only where a rule has refused: right programs instantiate nothing.
// Tests: tests/compile_fail/scale/by_hand.cpp, tests/compile_fail/reduce/contrastive_loss_of_pairs.cpp
#pragma once

#include <dimwise/expr/functions.hpp>
#include <dimwise/expr/numbers.hpp>
#include <dimwise/shape/rules/contract.hpp>

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
  } else if constexpr (requires {
                         typename X::function;
                         typename X::operands;
                       }) {
    return std::is_same_v<typename X::function, fn::multiply> || std::is_same_v<typename X::function, fn::divide> ||
           any_operand<scaled_by_hand, typename X::operands>;
  } else if constexpr (requires { typename X::inner_type; }) {
    return is_scaled_by_hand<typename X::inner_type>();
  } else {
    return false;
  }
}

// The error about a product, below arithmetic and names, whose operands share all that they keep: one number for each pair.
template <class X>
struct product_of_pairs {
  using type = nothing;
};
template <class X>
using product_of_pairs_t = typename product_of_pairs<X>::type;
template <class X>
  requires requires {
    typename X::over;
    typename X::left_type;
    typename X::right_type;
  }
struct product_of_pairs<X> {
  using a = shape_of<typename X::left_type>;
  using b = shape_of<typename X::right_type>;
  using facts = product_facts<typename X::over, list<>, a, b>;
  using type = std::conditional_t<
      gives_pairs<facts>,
      ERROR_R2_shared_dimension_gives_pairs<op::contract, over_t<typename facts::shared>, lhs_t<a>, rhs_t<b>>, nothing>;
};
template <class X>
  requires requires { typename X::inner_type; }
struct product_of_pairs<X> : product_of_pairs<typename X::inner_type> {};
template <class X, class Operands>
struct first_of_pairs {
  using type = nothing;
};
template <class X, class First, class... Rest>
struct first_of_pairs<X, list<First, Rest...>>
    : std::conditional_t<std::is_same_v<product_of_pairs_t<First>, nothing>, first_of_pairs<X, list<Rest...>>,
                         product_of_pairs<First>> {};
template <class X>
  requires requires {
    typename X::function;
    typename X::operands;
  }
struct product_of_pairs<X> : first_of_pairs<X, typename X::operands> {};

template <class Verdict, class... X>
struct told_of_product {
  using type = Verdict;
};
template <class... Facts, class... X>
struct told_of_product<ERROR_R6_raw_products_are_scaled_first<Facts...>, X...> {
  using type =
      std::conditional_t<any_operand<scaled_by_hand, list<X...>>, ERROR_R6_scaling_by_hand_is_said_by_scaled<Facts...>,
                         ERROR_R6_raw_products_are_scaled_first<Facts...>>;
};
template <class... Facts, class X, class... Rest>
struct told_of_product<ERROR_R1_dimension_is_not_in_the_operand<Facts...>, X, Rest...> {
  using pairs = product_of_pairs_t<X>;
  using type =
      std::conditional_t<std::is_same_v<pairs, nothing>, ERROR_R1_dimension_is_not_in_the_operand<Facts...>, pairs>;
};

// The verdict on an operation that computes with scores or logits.
template <class Op, class Verdict, class... X>
using of_scores = typename told_of_product<of_numbers<Op, Verdict, X...>, X...>::type;

}  // namespace dimwise::detail
