// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/products/contract.hpp -- products: contract, outer.
//
// Layer: expr. Says what is computed; knows no loops.
// Tests: tests/expr/products/contract.test.cpp, tests/compile_fail/contract/
#pragma once

#include <dimwise/expr/elements/numbers.hpp>
#include <dimwise/expr/node.hpp>
#include <dimwise/expr/operation.hpp>
#include <dimwise/shape/all_documents.hpp>
#include <dimwise/shape/rules/contract.hpp>

namespace dimwise {

namespace detail {

// Products of two operands summed over the dimensions `Over`, their shared dimensions taken side by side.
template <class Over>
struct product_over {
  static constexpr const char* name = Over::size == 0 ? "outer" : "contract";
  using over = Over;
};
template <class Shape, class Over, class A, class B>
using contraction = node<product_over<Over>, Shape, std::common_type_t<value_of<A>, value_of<B>>, A, B>;
template <class N>
inline constexpr bool is_product = false;
template <class Shape, class Over, class A, class B>
inline constexpr bool is_product<contraction<Shape, Over, A, B>> = true;

template <class A, class B>
using both_atoms_t = union_t<typename extents_type_of<A>::atoms, typename extents_type_of<B>::atoms>;

// The extents of a product: every dimension that both have is checked, contracted ones too. Where out<D> became D, the
// result's slots are the same, one for one.
template <class Shape, class Plain, class A, class B>
[[gnu::always_inline]] inline extents_for<Shape> product_extents(const char* operation, const A& a, const B& b) {
  using in_a = extents_type_of<A>;
  using in_b = extents_type_of<B>;
  if constexpr (in_a::packed::size + in_b::packed::size == 0) {
    using all = union_t<typename in_a::slotted, typename in_b::slotted>;
    extents_for<Shape> result;
    if constexpr (all::size > 0) {
      using to = typename extents_of<atoms_of_list_t<Plain>>::slotted;
      slot_merger<all>::template into<to>(result.slots(), operation, a.extents(), b.extents());
    }
    return result;
  } else {
    const auto all = merge_extents<both_atoms_t<A, B>>(operation, a.extents(), b.extents());
    extents_for<Shape> result;
    result.take_in_order(merge_extents<atoms_of_list_t<Plain>>(operation, all));
    return result;
  }
}

template <class Over, class Along, class Verdict, class A, class B>
auto make_contraction(const char* operation, const A& a, const B& b) {
  using shape = typename Verdict::shape;
  using plain = typename product_facts<Over, Along, shape_of<A>, shape_of<B>>::result;
  return contraction<shape, Over, A, B>({}, product_extents<shape, plain>(operation, a, b), a, b);
}

// ---- the calls ------------------------------------------------------------------------------------------------------

namespace calls {

struct contract {
  template <class... D, operand X>
  static auto judge(list<D...>, const X&) -> argument_missing<op::contract, list<D...>, X, argument::second_operand>;
  template <operand A, operand B>
  static auto judge(list<>, const A&, const B&) -> unnamed<op::contract, A, B>;
  template <class... D, operand A, operand B, class... E>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...>, const A&, const B&, along<E...> = {})
      -> of_numbers<op::contract, rule::contract<list<D...>, list<E...>, shape_of<A>, shape_of<B>>, A, B>;
  template <class... D, operand A, operand B>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...>, const A&, const B&, all_documents)
      -> of_numbers<op::contract, rule::contract_all<list<D...>, list<>, shape_of<A>, shape_of<B>>, A, B>;
  template <class Verdict, class... D, operand A, operand B, class... E>
  [[gnu::always_inline]] static auto make(list<D...>, const A& a, const B& b, along<E...> = {}) {
    return make_contraction<list<D...>, list<E...>, Verdict>("contract", a, b);
  }
  template <class Verdict, class... D, operand A, operand B>
  [[gnu::always_inline]] static auto make(list<D...>, const A& a, const B& b, all_documents) {
    return make_contraction<list<D...>, list<>, Verdict>("contract", a, b);
  }
};
struct outer {
  template <operand A, operand B>
  static auto judge(list<>, const A&, const B&) -> of_numbers<op::outer, rule::outer<shape_of<A>, shape_of<B>>, A, B>;
  template <class Verdict, operand A, operand B>
  [[gnu::always_inline]] static auto make(list<>, const A& a, const B& b) {
    return make_contraction<list<>, list<>, Verdict>("outer", a, b);
  }
};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// The sum over the dimensions D of the products of `a` and `b`.
///
///   contract<D…>(a, b):  [shared, free a, D…] x [shared, free b, D…]  ->  [shared, free a, free b]
///
/// With `along<E…>{}` after the operands, the dimensions E are shared although they are not parallel: the diagonal is
/// spelled (R2).
///
/// Rejects: R1, R2, R4, R5, R6, R7, R9, R11, R12, R17, R18, R19. Throws `extent_error` where extents disagree (R15).
DIMWISE_DETAIL_OPERATION(contract)

/// All products of `a` and `b`: nothing is summed.
///
///   outer(a, b):  [shared, free a] x [shared, free b]  ->  [shared, free a, free b]
DIMWISE_DETAIL_OPERATION(outer)

}  // namespace no_adl

}  // namespace dimwise
