// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/products/scores.hpp -- scores of queries against keys, and the scale that makes them scores.
//
// Layer: expr.
//
//   scores<d_k>(q, k) = q·k / √|d_k|      (Vaswani et al. 2017, equation 1, before softmax)
//
// Tests: tests/expr/products/scores.test.cpp, tests/compile_fail/scale/
#pragma once

#include <dimwise/expr/elements/elementwise.hpp>
#include <dimwise/expr/products/contract.hpp>
#include <dimwise/support/math.hpp>

namespace dimwise {

namespace detail {

// A raw product times a number or tensor, under the marks of scores.
template <class Verdict, class S, class X>
auto make_scaled(S&& s, const X& by) {
  using scores = std::remove_cvref_t<S>;
  using scaling = rule::multiplied<beside_scale_t<shape_of<scores>, shape_of<X>>, shape_of<X>>;
  auto product = make_elementwise<scaling, std::common_type_t<value_of<scores>, value_of<X>>>("scaled", fn::multiply{},
                                                                                              static_cast<S&&>(s), by);
  return make_with_marks<typename Verdict::shape>(std::move(product));
}

// 1 / √n; of no features the scores are 0, whatever they are divided by.
inline double inverse_root(double n) {
  return n == 0 ? 1.0 : 1.0 / math::sqrt(n);
}  // a real number: a product of extents may wrap

template <class S, class Features>
struct score_scale;
template <class S, class... D>
struct score_scale<S, list<D...>> {
  template <class Extents>
  static auto of(const Extents& e) {
    using T = value_of<S>;
    const double n = (static_cast<double>(e.template extent<D>("scores")) * ... * 1.0);
    return make_constant<T>(inverse_root(n));
  }
};

template <class Over>
struct make_scores;
template <class... D>
struct make_scores<list<D...>> {
  template <class Verdict, class A, class B>
  static auto of(const A& a, const B& b) {
    using product_verdict =
        typename decltype(judge_product<op::scores, list<D...>, list<>, shape_of<A>, shape_of<B>>())::type;
    auto product = make_contraction<list<D...>, list<>, product_verdict>("scores", a, b);
    return detail::make_scaled<Verdict>(std::move(product),
                                        score_scale<decltype(product), list<D...>>::of(a.extents()));
  }
};

// The extent of a feature that was contracted away, found in a product that the expression still holds; 0 where it
// holds none.
template <class D, class E>
inline constexpr bool sums_over = false;
template <class D, class Over, class Shape, class T, class A, class B>
inline constexpr bool sums_over<D, node<product_over<Over>, Shape, T, A, B>> = is_in<D, Over>;
template <class D, class E>
inline constexpr bool remembers = false;
template <class D, class Op, class Shape, class T, class... X>
inline constexpr bool remembers<D, node<Op, Shape, T, X...>> =
    sums_over<D, node<Op, Shape, T, X...>> || (remembers<D, X> || ...);
template <class D, class E>
extent_t remembered([[maybe_unused]] const E& e) {
  extent_t n = 0;
  if constexpr (sums_over<D, E>) {
    n = e.template child<0>().extents().template extent<D>();
  } else if constexpr (remembers<D, E>) {
    e.each_child([&n](const auto& x) { n = n == 0 ? remembered<D>(x) : n; });
  }
  return n;
}

// The number of features under the root: a sum counts its parts.
template <class D>
struct feature_count {
  template <class S>
  static constexpr bool known = D::static_extent != at_run_time || remembers<D, S>;
  template <class S>
  static extent_t of(const S& s) {
    if constexpr (D::static_extent != at_run_time) {
      return D::static_extent;
    } else {
      return remembered<D>(s);
    }
  }
};
template <class... P>
struct feature_count<summed<P...>> {
  template <class S>
  static constexpr bool known = (feature_count<P>::template known<S> && ...);
  template <class S>
  static double of(const S& s) {
    return (static_cast<double>(feature_count<P>::of(s)) + ...);
  }
};

// The terms of one raw product: its dimensions were contracted together.
template <class Mark>
struct terms_of {
  template <class S>
  static constexpr bool known = true;
  template <class S>
  static double of(const S&) {
    return 0;
  }
};
template <class... D>
struct terms_of<raw<D...>> {
  template <class S>
  static constexpr bool known = (feature_count<D>::template known<S> && ...);
  template <class S>
  static double of(const S& s) {
    return (static_cast<double>(feature_count<D>::of(s)) * ... * 1.0);
  }
};
// The number of terms under the root: raw products that were added count together.
template <class Marks>
struct raw_terms;
template <class... M>
struct raw_terms<list<M...>> {
  template <class S>
  static constexpr bool known = (terms_of<M>::template known<S> && ...);
  template <class S>
  static double of(const S& s) {
    return (terms_of<M>::of(s) + ... + 0.0);
  }
};

// The shape that `scaled` and `unscaled` judge, and `raw` if it is the product itself of one query that has lost
// its position. Its type alone could be that of a learned logit per key.
template <class S>
struct scalable {
  using type = shape_of<S>;
};
template <class Shape, class Over, class A, class B>
struct scalable<contraction<Shape, Over, A, B>> {
  using facts = product_facts<Over, list<>, shape_of<A>, shape_of<B>>;
  using type = typename either_t<is_scores<facts> && !facts::is_raw,
                                 std::type_identity<with_marks_t<Shape, typename raw_mark<Over>::raw_list>>,
                                 std::type_identity<Shape>>::type;
};
template <class S>
using scalable_t = typename scalable<S>::type;
template <class S>
using scaled_terms = raw_terms<marks_t<scalable_t<S>>>;

// The scale of a product that was stored has forgotten a run-time extent.
template <class Named, class S>
consteval auto judge_scaled() {
  using verdict = rule::scaled<Named, scalable_t<S>>;
  if constexpr (refused<verdict> || scaled_terms<S>::template known<S>) {
    return answer<verdict>{};
  } else {
    return answer<ERROR_R6_stored_product_has_lost_the_extent_of_its_features<op::scaled, over_t<Named>,
                                                                              operand_t<shape_of<S>>>>{};
  }
}

// ---- the calls ------------------------------------------------------------------------------------------------------

namespace calls {

struct scores {
  template <operand A, operand B>
  static auto judge(list<>, const A&, const B&) -> unnamed<op::scores, A, B>;
  template <class... D, operand A, operand B>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...>, const A&, const B&)
      -> of_numbers<op::scores, rule::scores<list<D...>, shape_of<A>, shape_of<B>>, A, B>;
  template <class Verdict, class... D, operand A, operand B>
  [[gnu::always_inline]] static auto make(list<D...>, const A& queries, const B& keys) {
    return make_scores<list<D...>>::template of<Verdict>(queries, keys);
  }
};
struct scaled {
  template <class... D, operand S>
    requires(sizeof...(D) > 0)
  static auto judge(list<D...> named, const S&) -> typename decltype(judge_scaled<decltype(named), S>())::type;
  template <class Verdict, class... D, operand S>
  [[gnu::always_inline]] static auto make(list<D...>, const S& s) {
    return make_scaled<Verdict>(s, make_constant<value_of<S>>(inverse_root(scaled_terms<S>::of(s))));
  }
  template <operand S, class X>
    requires(operand<X> || number<X>)
  static auto judge(list<>, const S&, const X&)
      -> of_numbers<op::scaled, rule::scaled_by<scalable_t<S>, shape_or_none_t<X>>, S, X>;
  template <class Verdict, operand S, class X>
  [[gnu::always_inline]] static auto make(list<>, const S& s, const X& by) {
    return make_scaled<Verdict>(s, as_operand<value_of<S>>(by));
  }
};
struct unscaled {
  template <operand S>
  static auto judge(list<>, const S&) -> rule::unscaled<scalable_t<S>>;
  template <class Verdict, operand S>
  [[gnu::always_inline]] static auto make(list<>, const S& s) {
    return make_with_marks<typename Verdict::shape>(s);
  }
};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// Products of queries and keys over the features D, divided by √(the extent of D).
///
///   scores<D…>(q, k):  [shared, seq, D…] x [shared, key, D…]  ->  [shared, seq, key], score<D…>
///
/// Rejects what leaves a feature or a choice, or leaves positions on neither side (R6), every head against every head
/// (R11), and what `contract` rejects.
DIMWISE_DETAIL_OPERATION(scores)

/// A raw product divided by √(the extent of the features it was contracted over): `scaled<d_k>(contract<d_k>(q, k))`.
/// `scaled(s, x)` multiplies by a number or tensor of the user's own, visibly: a temperature, a learned scale per head.
/// Parallel dimensions that only x has follow those of s: a temperature for each sequence.
///
///   scaled(s, x):  [s] x [subset of s, more parallel dimensions]  ->  [s, those parallel dimensions], score<D…>
///
/// A sum of raw products is scaled once: `scaled<summed<A, B>>(…)`. A product that was stored has forgotten a run-time
/// extent of D: give `scaled(s, x)`.
/// Rejects what is not raw, what is already scaled, and other features than those contracted (R6).
DIMWISE_DETAIL_OPERATION(scaled)

/// A raw product taken as scores without a scale, visibly (T5).
DIMWISE_DETAIL_OPERATION(unscaled)

}  // namespace no_adl

}  // namespace dimwise
