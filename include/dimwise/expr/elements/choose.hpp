// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/elements/choose.hpp -- where, max, min, clamp: one of several elements at each index, matched by name.
//
// Layer: expr.
// Tests: tests/expr/elements/choose.test.cpp, tests/compile_fail/choose/
//
//   where(padding<seq>(lengths), x, 0.0F)       [batch, seq, d_model]  ->  [batch, seq, d_model]
#pragma once

#include <dimwise/expr/elements/compare.hpp>
#include <dimwise/expr/masks/mask.hpp>

namespace dimwise {

namespace detail {

// ---- where ---------------------------------------------------------------------------------------------------------

// The condition of `where`: a mask, or a tensor of bool, which needs no polarity because it hides nothing.
template <class M>
struct condition {
  static constexpr bool is_one = false;
  using shape_type = shape<>;
};
template <mask M>
struct condition<M> {
  static constexpr bool is_one = true;
  using shape_type = typename M::facts::shape;
};
template <operand M>
struct condition<M> {
  static constexpr bool is_one = std::is_same_v<value_of<M>, bool>;
  using shape_type = shape_of<M>;
};

template <class X>
concept choosable = is_compared<X>;

template <class A, class B>
struct chosen {
  using type = typename either_t<std::is_same_v<compared_t<A>, compared_t<B>> || !(operand<A> || operand<B>),
                                 std::common_type<compared_t<A>, compared_t<B>>, promoted<A, B>>::type;
};
template <class A, class B>
using chosen_t = typename chosen<A, B>::type;

// An operand of `where`; a number gets the chosen type.
template <class T, class X>
auto as_chosen(const X& x) {
  if constexpr (real_element<T> || (number<X> && std::is_arithmetic_v<T>)) {
    return as_operand<T>(x);
  } else if constexpr (operand<X>) {
    return x;
  } else {
    return make_constant<T>(x);
  }
}

template <class M, class A, class B>
consteval auto judge_where() {
  using verdict = rule::chosen_by<typename condition<M>::shape_type, shape_or_none_t<A>, shape_or_none_t<B>>;
  using elements = of_alike<op::where, false, verdict, A, B>;
  if constexpr (operand<M> && !condition<M>::is_one) {
    return answer<ERROR_R7_given_mask_is_a_tensor_of_bool<op::where, operand_t<typename condition<M>::shape_type>>>{};
  } else if constexpr (refused<elements>) {
    return answer<elements>{};
  } else if constexpr (mask<M>) {
    // The extents of a mask's dimensions come from what is chosen, or from the mask itself.
    using known = union_t<
        union_t<typename extents_for<shape_or_none_t<A>>::atoms, typename extents_for<shape_or_none_t<B>>::atoms>,
        typename brought<M>::type>;
    if constexpr (is_subset<run_time_atoms_t<typename condition<M>::shape_type>, known>) {
      return answer<elements>{};
    } else {
      return answer<ERROR_R15_run_time_extents_are_given_once<op::where, over_t<typename M::facts::dims>, over<>>>{};
    }
  } else {
    return answer<elements>{};
  }
}
template <class M, class A, class B>
using where_verdict = typename decltype(judge_where<M, A, B>())::type;

template <class X>
auto extents_or_none(const X& x) {
  if constexpr (operand<X>) {
    return x.extents();
  } else {
    return extents_of<list<>>{};
  }
}
// The condition as a tensor of bool over its own dimensions.
template <class Extents, class M>
auto as_condition(const Extents& e, const M& m) {
  if constexpr (operand<M>) {
    return m;
  } else {
    using shape = typename condition<M>::shape_type;
    m.check(e, "where");
    return indicator_node<shape, bool, M>({}, extents_from<shape>("where", e), m);
  }
}
template <class M>
auto extents_of_condition(const M& m) {
  if constexpr (operand<M>) {
    return m.extents();
  } else {
    return brought_extents(m);
  }
}

// ---- max, min, clamp -----------------------------------------------------------------------------------------------

template <class X>
concept bounding = operand<X> || number<X>;

template <class Op, class... X>
using bounded_verdict = of_numbers<Op, rule::chosen<Op, shape_or_none_t<X>...>, X...>;

// The type in which all meet: whole numbers beside real ones are real.
template <class X, class Low, class High>
struct clamped {
  using first = promoted_t<X, Low>;
  using second = promoted_t<X, High>;
  using type = either_t<real_element<first> == real_element<second>, std::common_type_t<first, second>,
                        either_t<real_element<first>, first, second>>;
};

// ---- the calls ------------------------------------------------------------------------------------------------------

namespace calls {

struct where {
  template <class M, choosable A, choosable B>
    requires(operand<M> || mask<M>)
  static auto judge(list<>, const M&, const A&, const B&) -> where_verdict<M, A, B>;
  template <class E, class A, class B>
  static auto judge(list<>, const block_mask<E>&, const A&, const B&)
      -> ERROR_R7_block_mask_needs_allow_of<op::where, operand_t<shape_of<E>>>;
  template <class Verdict, class M, class A, class B>
  static auto make(list<>, const M& m, const A& a, const B& b) {
    using shape = typename Verdict::shape;
    using T = chosen_t<A, B>;
    auto e = extents_from<shape>("where", extents_or_none(a), extents_or_none(b), extents_of_condition(m));
    auto condition = as_condition(e, m);
    return make_node<shape, T>(apply<fn::choose>{}, e, std::move(condition), as_chosen<T>(a), as_chosen<T>(b));
  }
};
struct clamp {
  template <operand X, bounding Low, bounding High>
  static auto judge(list<>, const X&, const Low&, const High&) -> bounded_verdict<op::clamp, X, Low, High>;
  template <class Verdict, operand X, bounding Low, bounding High>
  static auto make(list<>, const X& x, const Low& low, const High& high) {
    using T = typename clamped<X, Low, High>::type;
    return make_elementwise<Verdict, T>("clamp", fn::clamp{}, as_operand<T>(x), as_operand<T>(low),
                                        as_operand<T>(high));
  }
};
struct pow {
  template <class X, class Y>
    requires(operand_pair<X, Y>)
  static auto judge(list<>, const X&, const Y&) -> bounded_verdict<op::pow, X, Y>;
  template <class Verdict, class X, class Y>
  static auto make(list<>, const X& x, const Y& y) {
    return make_binary<fn::pow, X, Y, Verdict>(x, y);
  }
};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// `a` where `m` is true, else `b`; elements that are not chosen have no effect, NaN included.
///
///   where(m, a, b)  ->  the dimensions that one of a, b, m has all of (tie: a, then b), the marks of a and b
///
/// `m` is a mask or a tensor of bool, a comparison for example; `a`, `b` are operands, numbers, or both ids of one
/// dimension. Rejects masked operands (R7), R8, R13, R15 (a symbolic mask of unknown extents), R18. Throws
/// `extent_error` (R15).
DIMWISE_DETAIL_OPERATION(where)

/// min(max(x, low), high): NaN if one is NaN, `high` if the bounds cross. Bounds are numbers or operands.
///
///   clamp(x, low, high):  [x] x [subset of x] x [subset of x]  ->  [x]
///
/// Rejects masked operands (R7), R8, R13, R18.
DIMWISE_DETAIL_OPERATION(clamp)

/// x to the power of y, of numbers or operands, one of them an operand; as `std::pow`.
///
///   pow(x, y):  [larger] x [subset of it]  ->  [larger]
///
/// Rejects whole numbers alone (R13) and masked operands (R7); R8, R18.
DIMWISE_DETAIL_OPERATION(pow)

}  // namespace no_adl

}  // namespace dimwise
