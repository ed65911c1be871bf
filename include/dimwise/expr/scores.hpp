// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/scores.hpp -- scores of queries against keys, and the scale that makes them scores.
//
// Layer: expr.
//
//   scores<d_k>(q, k) = q·k / √|d_k|      (Vaswani et al. 2017, equation 1, before softmax)
//
// Tests: tests/expr/scores.test.cpp, tests/compile_fail/scale/
#pragma once

#include <dimwise/expr/contract.hpp>
#include <dimwise/expr/elementwise.hpp>

#include <cmath>

namespace dimwise {

namespace detail {

// A raw product times a number or tensor, under the marks of scores.
template <class Verdict, class S, class X>
auto make_scaled(S&& s, const X& by) {
  using scores = std::remove_cvref_t<S>;
  using scaling = rule::multiplied<shape_of<scores>, shape_of<X>>;
  auto product = make_elementwise<scaling, std::common_type_t<value_of<scores>, value_of<X>>>("scaled", fn::multiply{},
                                                                                              static_cast<S&&>(s), by);
  return make_with_marks<typename Verdict::shape>(std::move(product));
}

// 1 / √n; of no features the scores are 0, whatever they are divided by.
inline double inverse_root(double n) {
  return n == 0 ? 1.0 : 1.0 / std::sqrt(n);
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
    return make_scaled<Verdict>(std::move(product), score_scale<decltype(product), list<D...>>::of(a.extents()));
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

// What `scaled` and `unscaled` judge: the shape, and `raw` where it is the product itself of one query that has lost
// its position. Its type alone could be that of a learned logit per key.
template <class S>
struct scalable {
  using type = shape_of<S>;
};
template <class Shape, class Over, class A, class B>
struct scalable<contraction<Shape, Over, A, B>> {
  using facts = product_facts<Over, list<>, shape_of<A>, shape_of<B>>;
  using type = typename std::conditional_t<is_scores<facts> && !facts::is_raw,
                                           std::type_identity<with_marks_t<Shape, typename raw_mark<Over>::raw_list>>,
                                           std::type_identity<Shape>>::type;
};
template <class S>
using scalable_t = typename scalable<S>::type;
template <class S>
using scaled_terms = raw_terms<marks_t<scalable_t<S>>>;

}  // namespace detail

namespace no_adl {

/// Products of queries and keys over the features D, divided by √(the extent of D).
///
///   [shared, seq, D] x [shared, key, D]  ->  [shared, seq, key], score<D>
///
/// Refuses what leaves a feature or a choice, or leaves positions on neither side (R6), every head against every head
/// (R11), and what `contract` refuses.
template <class... D, operand A, operand B,
          class Verdict = detail::of_numbers<
              op::scores, rule::scores<detail::list<D...>, detail::shape_of<A>, detail::shape_of<B>>, A, B>>
  requires(sizeof...(D) > 0 && allowed<Verdict>)
[[nodiscard]] auto scores(const A& queries, const B& keys) {
  return detail::make_scores<detail::list<D...>>::template of<Verdict>(queries, keys);
}
template <class... D, operand A, operand B,
          class Verdict = detail::of_numbers<
              op::scores, rule::scores<detail::list<D...>, detail::shape_of<A>, detail::shape_of<B>>, A, B>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict scores(const A& queries, const B& keys);
template <operand A, operand B, class Error = detail::unnamed<op::scores, A, B>>
Error scores(const A& queries, const B& keys);

/// A raw product divided by √(the extent of the features it was contracted over): `scaled<d_k>(contract<d_k>(q, k))`.
///
/// A sum of raw products is scaled once: `scaled<summed<A, B>>(…)`. A product that was stored
/// has forgotten a run-time extent of D: give `scaled(s, x)`.
/// Refuses what is not raw, what is already scaled, and other features than those contracted (R6).
template <class... D, operand S, class Verdict = rule::scaled<detail::list<D...>, detail::scalable_t<S>>>
  requires(sizeof...(D) > 0 && allowed<Verdict> && detail::scaled_terms<S>::template known<S>)
[[nodiscard]] auto scaled(const S& s) {
  using T = detail::value_of<S>;
  const double n = detail::scaled_terms<S>::of(s);
  return detail::make_scaled<Verdict>(s, detail::make_constant<T>(detail::inverse_root(n)));
}
template <class... D, operand S, class Verdict = rule::scaled<detail::list<D...>, detail::scalable_t<S>>,
          class Error = ERROR_R6_extent_of_stored_product_is_given_by_scaled<op::scaled, over<detail::about_t<D>...>,
                                                                             detail::operand_t<detail::shape_of<S>>>>
  requires(sizeof...(D) > 0 && allowed<Verdict> && !detail::scaled_terms<S>::template known<S>)
Error scaled(const S& s);
template <class... D, operand S, class Verdict = rule::scaled<detail::list<D...>, detail::scalable_t<S>>>
  requires(sizeof...(D) > 0 && refused<Verdict>)
Verdict scaled(const S& s);

/// A raw product times a number or a tensor of the user's own, visibly: a temperature, a learned scale per head.
template <operand S, class X,
          class Verdict =
              detail::of_numbers<op::scaled, rule::scaled_by<detail::scalable_t<S>, detail::shape_or_none_t<X>>, S, X>>
  requires((operand<X> || number<X>) && allowed<Verdict>)
[[nodiscard]] auto scaled(const S& s, const X& by) {
  return detail::make_scaled<Verdict>(s, detail::as_operand<detail::value_of<S>>(by));
}
template <operand S, class X,
          class Verdict =
              detail::of_numbers<op::scaled, rule::scaled_by<detail::scalable_t<S>, detail::shape_or_none_t<X>>, S, X>>
  requires((operand<X> || number<X>) && refused<Verdict>)
Verdict scaled(const S& s, const X& by);

/// A raw product taken as scores without a scale, visibly (T5).
template <operand S, class Verdict = rule::unscaled<detail::scalable_t<S>>>
  requires allowed<Verdict>
[[nodiscard]] auto unscaled(const S& s) {
  return detail::make_with_marks<typename Verdict::shape>(s);
}
template <operand S, class Verdict = rule::unscaled<detail::scalable_t<S>>>
  requires refused<Verdict>
Verdict unscaled(const S& s);

}  // namespace no_adl

}  // namespace dimwise
