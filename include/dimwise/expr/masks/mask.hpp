// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/masks/mask.hpp -- masks and biases applied to values: masked, biased, indicator.
//
// Layer: expr.
// Tests: tests/expr/masks/mask.test.cpp, tests/compile_fail/mask/
//
//   softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{} & padding<key>(lengths)))
#pragma once

#include <dimwise/expr/masks/mask_algebra.hpp>
#include <dimwise/expr/operation.hpp>
#include <dimwise/expr/products/errors.hpp>
#include <dimwise/shape/rules/reduce.hpp>

namespace dimwise {

/// A bias made from the positions of queries and keys; `biased` gives it its extents.
template <class B>
concept position_bias = requires { typename B::bias_facts; } && !detail::is_refused<B>;

namespace detail {

// Values, and the mask that hides some of them: hidden ones are −∞, whatever they were.
struct hide {
  static constexpr const char* name = "mask";
};
template <class Shape, class E, class M>
using masked_node = node<hide, Shape, value_of<E>, E, M>;

// The dimensions whose extents a mask brings along: those of given elements and of lengths.
template <class M>
struct brought {
  using type = list<>;
};
template <class E>
struct brought<given_mask<E>> {
  using type = typename extents_type_of<E>::atoms;
};
template <class K, class L>
struct brought<padding_mask<K, L>> {
  using type = typename extents_type_of<L>::atoms;
};
template <class M>
struct brought<mask_not<M>> : brought<M> {};
template <class M>
struct brought<whole_rows_mask<M>> : brought<M> {};
template <class D, class Sum, class M>
struct brought<mask_in_sum<D, Sum, M>> : brought<M> {};
template <class How, class A, class B>
struct brought<mask_pair<How, A, B>> {
  using type = union_t<typename brought<A>::type, typename brought<B>::type>;
};

// Those extents; of a mask of two masks both must agree.
template <class M>
auto brought_extents(const M& m) {
  if constexpr (requires { typename M::how; }) {
    return merge_extents<typename brought<M>::type>("mask", brought_extents(m.left()), brought_extents(m.right()));
  } else if constexpr (requires { m.lengths(); }) {
    return m.lengths().extents();
  } else if constexpr (requires { m.elements(); }) {
    return m.elements().extents();
  } else if constexpr (requires { m.inner(); }) {
    return brought_extents(m.inner());
  } else {
    return extents_of<list<>>{};
  }
}

// 1 where a mask is true, else 0, over the mask's own dimensions; it needs their extents.
struct indicate {
  static constexpr const char* name = "indicator";
};
template <class Shape, class T, class M>
using indicator_node = node<indicate, Shape, T, M>;

template <class M, class... D>
inline constexpr bool knows_extents = is_subset<run_time_atoms_t<make_shape_t<typename M::facts::dims, list<>>>,
                                                join_t<typename brought<M>::type, list<D...>>>;

// Scores plus a bias; what is masked stays masked.
struct add_bias {
  static constexpr const char* name = "biased";
};
template <class Shape, class E, class B>
using biased_node = node<add_bias, Shape, std::common_type_t<value_of<E>, value_of<B>>, E, B>;

// Scores plus a bias that is made from positions.
struct add_position_bias {
  static constexpr const char* name = "biased";
};
template <class E, class B>
struct biased_value {
  using type = value_of<E>;
};
template <class E, class B>
  requires requires { typename B::table_type; }
struct biased_value<E, B> {
  using type = std::common_type_t<value_of<E>, value_of<typename B::table_type>>;
};
template <class Shape, class E, class B>
using position_biased_node = node<add_position_bias, Shape, typename biased_value<E, B>::type, E, B>;

// The slots of a position bias' dimensions, from the scores and from its table.
template <class Atoms, class Extents, class B>
extents_of<Atoms> biased_extents(const Extents& e, const B& b) {
  if constexpr (requires { b.table(); }) {
    return merge_extents<Atoms>(
        "biased", e, extents_beside<shape_of<typename B::table_type>, typename B::relative>(b.table().extents()));
  } else {
    return merge_extents<Atoms>("biased", e);
  }
}

// The facts of a bias; a type that was rejected has none.
template <class B>
using position_facts_of = typename either_t<is_refused<B>, nothing, B>::bias_facts;

// ---- the calls ------------------------------------------------------------------------------------------------------

namespace calls {

struct masked {
  template <operand X>
  static auto judge(list<>, const X&) -> argument_missing<op::masked, list<>, X, argument::mask>;
  template <operand S, mask M>
  static auto judge(list<>, const S&, const M&)
      -> of_numbers<op::masked, rule::masked<shape_of<S>, typename M::facts>, S>;
  template <operand S, class M>
  static auto judge(list<>, const S&, const M&) -> unclear_mask_error_t<op::masked, M, S>;
  template <class Verdict, operand S, mask M>
  [[gnu::always_inline]] static auto make(list<>, const S& s, const M& m) {
    using shape = typename Verdict::shape;
    auto extents = extents_from<shape>("masked", s.extents(), brought_extents(m));
    m.check(extents, "masked");
    auto over = mask_over<shape_of<S>>(m);
    return masked_node<shape, S, decltype(over)>({}, extents, s, over);
  }
};
// `indicator` gives floats, `indicator<T>` elements of the type T.
struct indicator {
  template <class... T, mask M, dimension_type... D>
    requires(sizeof...(T) < 2 && knows_extents<M, D...>)
  static auto judge(list<T...>, const M&, const D&...) -> accepted<typename M::facts::shape>;
  template <class... T, mask M, extent_or_number... D>
    requires(sizeof...(T) < 2 && !((dimension_type<D> && ...) && knows_extents<M, D...>))
  static auto judge(list<T...>, const M&, const D&...)
      -> ERROR_R15_run_time_extents_are_given_once<op::indicator, over_t<typename M::facts::dims>, over<D...>>;
  template <class... T, unclear_mask M, extent_or_number... D>
  static auto judge(list<T...>, const M&, const D&...) -> unclear_mask_error_t<op::indicator, M>;
  template <class Verdict, class... T, mask M, dimension_type... D>
  [[gnu::always_inline]] static auto make(list<T...>, const M& m, const D&... extents) {
    using shape = typename Verdict::shape;
    const auto e = extents_from<shape>("indicator", one_extent(extents)..., brought_extents(m));
    m.check(e, "indicator");
    return indicator_node<shape, first_t<list<T..., float>>, M>({}, e, m);
  }
};
struct biased {
  template <operand X>
  static auto judge(list<>, const X&) -> argument_missing<op::biased, list<>, X, argument::bias>;
  template <operand S, operand B>
  static auto judge(list<>, const S&, const B&) -> of_scores<op::biased, rule::biased<shape_of<S>, shape_of<B>>, S, B>;
  template <operand S, position_bias B>
  static auto judge(list<>, const S&, const B&)
      -> of_scores<op::biased, rule::position_biased<shape_of<S>, position_facts_of<B>>, S>;
  template <class Verdict, operand S, operand B>
  [[gnu::always_inline]] static auto make(list<>, const S& s, const B& b) {
    using shape = typename Verdict::shape;
    return biased_node<shape, S, B>({}, extents_from<shape>("biased", s.extents(), b.extents()), s, b);
  }
  template <class Verdict, operand S, position_bias B>
  [[gnu::always_inline]] static auto make(list<>, const S& s, const B& b) {
    using shape = typename Verdict::shape;
    auto e = biased_extents<typename extents_for<shape>::atoms>(s.extents(), b);
    b.check(e, B::name);
    return position_biased_node<shape, S, B>({}, e, s, b);
  }
};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// `s` with everything hidden that the mask does not allow; a following softmax gives exactly 0 there.
///
///   masked(s, m):  [s] x [subset of s, more parallel dimensions]  ->  [s, those parallel dimensions], masked_for<…>
///
/// The mask may have one part of a summed dimension of s: the other parts stay visible. Of a memory before the keys,
/// `masked(s, padding<memory>(lengths))` hides what pads the memory.
///
/// Rejects: masks without polarity, of other dimensions, after softmax (R7), packed positions without documents (R19).
DIMWISE_DETAIL_OPERATION(masked)

/// 1 where the mask is true and 0 elsewhere, over the mask's dimensions, of the element type T (float if not said).
/// Run-time extents that neither given elements nor lengths bring along are given (R15): `indicator(causal<seq, key>{},
/// seq{3}, key{3})`.
DIMWISE_DETAIL_OPERATION(indicator)

/// `s + b`, where the bias may add parallel dimensions and no others. Of a bias made from positions (`alibi`,
/// `relative_bias`) the key side is what a following softmax may go over (R7).
///
///   biased(s, b):  [s] x [subset of s, more parallel dimensions]  ->  [s, those parallel dimensions], biased_for<…>
///
/// Rejects raw products (R6), biases after softmax, of other dimensions, or the same for all that a softmax goes over
/// (R7).
DIMWISE_DETAIL_OPERATION(biased)

}  // namespace no_adl

}  // namespace dimwise
