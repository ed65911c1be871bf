// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/mask.hpp -- masks and biases applied to values: masked, biased, indicator.
//
// Layer: expr.
// Tests: tests/expr/mask.test.cpp, tests/compile_fail/mask/
//
//   softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{} & padding<key>(lengths)))
#pragma once

#include <dimwise/expr/mask_algebra.hpp>
#include <dimwise/expr/product_errors.hpp>
#include <dimwise/shape/rules/reduce.hpp>

namespace dimwise {

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
template <class How, class A, class B>
struct brought<mask_pair<How, A, B>> {
  using type = union_t<typename brought<A>::type, typename brought<B>::type>;
};

// Those extents; what two halves of a mask both bring is checked.
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

// Extents of what is masked, and of the parallel dimensions that a mask adds.
template <class Atoms, class Extents, class M>
extents_of<Atoms> masked_extents(const Extents& e, const M& m) {
  return merge_extents<Atoms>("masked", e, brought_extents(m));
}

}  // namespace detail

namespace no_adl {

/// `s` with everything hidden that the mask does not allow; a following softmax gives exactly 0 there.
///
///   [s] x [subset of s, more parallel dimensions]  ->  [s, those parallel dimensions], masked_for<…>
///
/// Refuses: masks without polarity, of other dimensions, after softmax (R7), packed positions without documents (R19).
template <operand S, mask M,
          class Verdict = detail::of_numbers<op::masked, rule::masked<detail::shape_of<S>, typename M::facts>, S>>
  requires allowed<Verdict>
[[nodiscard]] auto masked(const S& s, const M& m) {
  using shape = typename Verdict::shape;
  auto extents = detail::masked_extents<typename detail::extents_for<shape>::atoms>(s.extents(), m);
  m.check(extents, "masked");
  return detail::masked_node<shape, S, M>({}, extents, s, m);
}
template <operand S, mask M,
          class Verdict = detail::of_numbers<op::masked, rule::masked<detail::shape_of<S>, typename M::facts>, S>>
  requires refused<Verdict>
Verdict masked(const S& s, const M& m);
template <operand S, class E,
          class Error = ERROR_R7_block_mask_is_turned_by_allow_of<op::masked, detail::lhs_t<detail::shape_of<S>>,
                                                                  detail::rhs_t<detail::shape_of<E>>>>
Error masked(const S& s, const block_mask<E>& m);
template <operand S, operand E,
          class Error = ERROR_R7_mask_needs_a_polarity_allow_or_block<op::masked, detail::lhs_t<detail::shape_of<S>>,
                                                                      detail::rhs_t<detail::shape_of<E>>>>
Error masked(const S& s, const E& m);

}  // namespace no_adl

namespace detail {

// 1 where a mask is true, else 0, over the mask's own dimensions; it needs their extents.
struct indicate {
  static constexpr const char* name = "indicator";
};
template <class Shape, class T, class M>
using indicator_node = node<indicate, Shape, T, M>;

template <class D>
extents_of<list<D>> one_extent(const D& d) {
  extents_of<list<D>> e;
  e.set(d);
  return e;
}

template <class M, class... D>
inline constexpr bool knows_extents = is_subset<run_time_atoms_t<make_shape_t<typename M::facts::dims, list<>>>,
                                                join_t<typename brought<M>::type, list<D...>>>;

}  // namespace detail

namespace no_adl {

/// 1 where the mask is true and 0 elsewhere, over the mask's dimensions. Run-time extents that neither given elements
/// nor lengths bring along are given (R15): `indicator(causal<seq, key>{}, seq{3}, key{3})`.
template <class T = float, mask M, dimension_type... D>
  requires(detail::knows_extents<M, D...>)
[[nodiscard]] auto indicator(const M& m, const D&... extents) {
  using shape = typename M::facts::shape;
  using atoms = typename detail::extents_for<shape>::atoms;
  const auto e = detail::merge_extents<atoms>("indicator", detail::one_extent(extents)..., detail::brought_extents(m));
  m.check(e, "indicator");
  return detail::indicator_node<shape, T, M>({}, e, m);
}
template <class T = float, mask M, dimension_type... D,
          class Error = ERROR_R15_run_time_extents_are_given_once<detail::over_t<typename M::facts::dims>, over<D...>>>
  requires(!detail::knows_extents<M, D...>)
Error indicator(const M& m, const D&... extents);

}  // namespace no_adl

namespace detail {

// Scores plus a bias; what is masked stays masked.
struct add_bias {
  static constexpr const char* name = "biased";
};
template <class Shape, class E, class B>
using biased_node = node<add_bias, Shape, std::common_type_t<value_of<E>, value_of<B>>, E, B>;

}  // namespace detail

namespace no_adl {

/// `s + b`, where the bias may add parallel dimensions and no others.
///
///   [s] x [subset of s, more parallel dimensions]  ->  [s, those parallel dimensions], biased_for<…>
///
/// Refuses raw products (R6), biases after softmax, of other dimensions, or the same for all that a softmax goes over
/// (R7).
template <operand S, operand B,
          class Verdict = detail::of_scores<op::biased, rule::biased<detail::shape_of<S>, detail::shape_of<B>>, S, B>>
  requires allowed<Verdict>
[[nodiscard]] auto biased(const S& s, const B& b) {
  using shape = typename Verdict::shape;
  return detail::biased_node<shape, S, B>({}, detail::extents_from<shape>("biased", s.extents(), b.extents()), s, b);
}
template <operand S, operand B,
          class Verdict = detail::of_scores<op::biased, rule::biased<detail::shape_of<S>, detail::shape_of<B>>, S, B>>
  requires refused<Verdict>
Verdict biased(const S& s, const B& b);

}  // namespace no_adl

}  // namespace dimwise
