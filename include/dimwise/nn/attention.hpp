// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/attention.hpp -- scaled dot-product attention with masks, biases, score functions and sinks.
//
// Layer: nn.
//
//   attention<d_k, key>(q, k, v, causal<seq, key>{})   softmax(q·k / √|d_k|) · v      (Vaswani et al. 2017, equation 1)
//
// Arguments after the values change the scores. They are applied from left to right: masks, biases (tensors or
// functions
// of positions), and functions of scores such as soft_cap{30} or a lambda.
//
//   attention<d_k, key>(rounded<bfloat16>(q), rounded<bfloat16>(k), rounded<bfloat16>(v))      products of bfloat16
//
// The weights are rounded to the type of the queries. Keys and values stored in bfloat16 need widened(k), widened(v).
//
// Tests: tests/nn/multi_head.test.cpp, tests/conformance/, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/formula.hpp>
#include <dimwise/support/math.hpp>

namespace dimwise::nn {

namespace detail::functions {

template <class S>
auto capped(const S& s, double cap) {
  const auto c = static_cast<detail::untracked_t<value_of<S>>>(cap);
  return times(tanh_of(quotient(s, c)), c);
}

}  // namespace detail::functions

/// cap · tanh(s / cap): keeps scores within ±cap (Gemma 2). Rejects masked scores (R7). A bias added before is capped
/// with the scores.
struct soft_cap {
  double cap;
  template <operand S, class Verdict = DIMWISE_DETAIL_VERDICT(detail::functions::capped(std::declval<const S&>(), 1.0))>
    requires allowed<Verdict>
  auto operator()(const S& s) const {
    return detail::functions::capped(s, dimwise::detail::positive("soft_cap", "the cap", cap));
  }
  template <operand S, class Verdict = DIMWISE_DETAIL_VERDICT(detail::functions::capped(std::declval<const S&>(), 1.0))>
    requires refused<Verdict>
  Verdict operator()(const S& s) const;
};

/// The scale of the scores: that of `scores<F>(q, k)` (the default), none (T5), or a given factor.
struct root_scaled {
  template <class P>
  auto scale(const P& products) const {
    return detail::functions::scaled(products);
  }
};
struct not_scaled {
  template <class P>
  auto scale(const P& products) const {
    return detail::functions::unscaled(products);
  }
};
struct scaled_by {
  double factor;
  template <class P>
  auto scale(const P& products) const {
    return detail::attempt([&](const auto& p) {
      return detail::functions::scaled(p, static_cast<detail::untracked_t<detail::value_of<P>>>(factor));
    }, products);
  }
};
/// A scaling, which comes first among the arguments that change the scores.
template <class X>
concept scaling = std::same_as<X, root_scaled> || std::same_as<X, not_scaled> || std::same_as<X, scaled_by>;

namespace detail {

// The factor of a scaling for this number of features.
template <class... How>
double scale_of(std::size_t features, const How&...) {
  return 1 / math::sqrt(static_cast<double>(features));
}
template <class... How>
double scale_of(std::size_t, const not_scaled&, const How&...) {
  return 1;
}
template <class... How>
double scale_of(std::size_t, const scaled_by& by, const How&...) {
  return by.factor;
}

template <class X>
concept number_tensor = operand<X> && !is_bool<value_of<X>>;
// A mask, or an argument that `masked` rejects: a mask of the other polarity, a tensor of bool (which has no polarity),
// and a mask whose construction was rejected.
template <class X>
inline constexpr bool masks_or_is_refused = mask_like<X> || operand<X> || is_refused<X>;
template <class E>
inline constexpr bool masks_or_is_refused<block_mask<E>> = true;

namespace functions {

/// The scores after one change: a mask, a bias, or a function.
template <class S, class How>
auto changed(const S& s, const How& how) {
  if constexpr (is_refusal<S>) {
    return s;
  } else if constexpr (position_bias<How> || number_tensor<How>) {
    return functions::biased(s, how);
  } else if constexpr (masks_or_is_refused<How>) {
    return functions::masked(s, how);
  } else if constexpr (scaling<How>) {
    return how.scale(s);  // rejected after another change: scores are already scaled
  } else {
    constexpr bool is_taken = is_lambda_that_takes<How, S>();
    if constexpr (requires { requires !std::is_void_v<decltype(how(s))>; }) {
      return attempt(how, s);
    } else if constexpr (is_taken && (!requires { how(s); } || was_raised<refused_type, How>)) {
      return already_refused();  // its body does not compile, and compilers have said so
    } else {
      return refusal<ERROR_R7_scores_change_by_a_mask_a_bias_or_a_function<op::scores, How, lhs_t<shape_of<S>>>>();
    }
  }
}
template <class S>
S all_changes(const S& s) {
  return s;
}
template <class S, class First, class... Rest>
auto all_changes(const S& s, const First& first, const Rest&... rest) {
  return all_changes(changed(s, first), rest...);
}
template <class F, class Q, class K, class... How>
auto changed_scores(const Q& q, const K& k, const How&... how) {
  return all_changes(scores<F>(q, k), how...);
}
template <class F, class Q, class K, scaling By, class... How>
auto changed_scores(const Q& q, const K& k, [[maybe_unused]] const By& by, const How&... how) {
  if constexpr (std::is_same_v<By, root_scaled>) {
    return all_changes(scores<F>(q, k), how...);
  } else {
    return all_changes(by.scale(contract<F>(q, k)), how...);
  }
}

/// A partial attention result with its log-sum-exp per query.
template <class Key, class S, class V>
auto part_of_attention(const S& s, const V& v) {
  return attempt([](const auto& part) { return attention_part{part.output, tensor(plain(part.log_sum_exp))}; },
                 partial_attention<Key>(s, v));
}
/// A logit broadcast to these sums. A logit selected by `at` does not hold for the whole dimension (R18). Errors are
/// those of sinks: the logit of a learned key has the dimensions of the sums.
template <class Logit, class Sums>
auto logit_beside(const Logit& logit, const Sums& sums) {
  using foreign = difference_t<dims_t<shape_of<Logit>>, dims_t<shape_of<Sums>>>;
  using own = untracked_t<value_of<Logit>>;
  using other = untracked_t<value_of<Sums>>;
  if constexpr (indexed_meets<shape_of<Logit>, shape_of<Sums>>) {
    return refusal<ERROR_R18_single_element_meets_its_whole_dimension<op::attention_with_sinks, lhs_t<shape_of<Logit>>,
                                                                      rhs_t<shape_of<Sums>>>>();
  } else if constexpr (foreign::size > 0) {
    return refusal<missing_t<op::attention_with_sinks, foreign, shape_of<Sums>>>();
  } else if constexpr (!fits<other, own>) {
    return refusal<ERROR_R13_elements_do_not_fit_the_declared_type<op::attention_with_sinks, declared<other>,
                                                                   computed<own>, operand_t<shape_of<Logit>>>>();
  } else if constexpr (is_untracked_beside<Sums, Logit> && !std::is_same_v<own, other>) {
    // Constants become tracked beside a trained logit, whose elements have the type of the gradient.
    return refusal<ERROR_R13_elements_do_not_fit_the_declared_type<op::attention_with_sinks, declared<value_of<Logit>>,
                                                                   computed<other>, operand_t<shape_of<Sums>>>>();
  } else {
    return evaluated_as<Sums, op::attention_with_sinks>(broadcast_like(logit, sums));
  }
}
/// A part that is tracked if `Own` is: sinks may be trained beside constants.
template <class Own, class Output, class Sums>
auto tracked_beside(const attention_part<Output, Sums>& part) {
  if constexpr (is_untracked_beside<Sums, Own>) {
    using T = value_of<Own>;
    return attention_part{tensor_of<T, shape_of<Output>>(part.output), tensor_of<T, shape_of<Sums>>(part.log_sum_exp)};
  } else {
    return part;
  }
}
/// A partial attention result merged with one more key of this logit and value; without a value, the value is 0.
template <class Part, class Logit, class... Value>
auto beside(const Part& given, const Logit& logit, const Value&... value) {
  const auto joined = [&](const auto& before, const auto& own) {
    const auto part = tracked_beside<std::remove_cvref_t<decltype(own)>>(before);
    using joined_part = std::remove_const_t<decltype(part)>;
    if constexpr (sizeof...(Value) > 0) {
      return merge(part, joined_part{dimwise::broadcast_like(value..., part.output), own});
    } else {
      return joined_part{part.output * map(share_of{}, part.log_sum_exp, own),
                         map(sum_of_logs{}, part.log_sum_exp, own)};
    }
  };
  return attempt([&](const auto& part) { return attempt(joined, part, logit_beside(logit, part.log_sum_exp)); }, given);
}
template <class Part>
auto output_of(const Part& given) {
  return attempt([](const auto& part) { return part.output; }, given);
}

// The element type that X is rounded to; `nothing` if it is not rounded.
template <class X>
struct rounding_of {
  using type = nothing;
};
template <class Shape, class T, class To, class E>
struct rounding_of<elementwise<Shape, T, fn::rounded<To>, E>> {
  using type = To;
};
/// The attention weights, rounded to the type of the queries Q if those are rounded.
template <class Q, class W>
auto rounded_as(const W& w) {
  using to = typename rounding_of<Q>::type;
  if constexpr (std::is_same_v<to, nothing>) {
    return w;
  } else {
    return rounded<to>(w);
  }
}

template <class F, class Key, input Q, input K, class... How>
auto attention_weights(const Q& q, const K& k, const How&... how) {
  return softmax<Key>(changed_scores<F>(q, k, how...));
}
template <class F, class Key, input Q, input K, input V, class... How>
auto attention(const Q& q, const K& k, const V& v, const How&... how) {
  return contract<Key>(rounded_as<Q>(attention_weights<F, Key>(q, k, how...)), v);
}
template <class F, class Key, input Q, input K, input V, input Sinks, class... How>
auto attention_with_sinks(const Q& q, const K& k, const V& v, const Sinks& sinks, const How&... how) {
  return output_of(beside(part_of_attention<Key>(changed_scores<F>(q, k, how...), v), sinks));
}

}  // namespace functions

// What comes of the scores, asked in the declaration of the call: compilers print the whole path to an error in a
// function of the user's, which is short then. `Values`: how many operands the scores do not depend on.
struct no_trial {};
template <class F, std::size_t Values, class... Q>
struct trial {};
template <std::size_t Values, class S>
struct trial_of_scores {};
template <std::size_t Values, class S>
struct trial_by {
  using type = no_trial;
};
template <std::size_t Values, class S>
  requires defined<S> && operand<S>  // an error is never defined
struct trial_by<Values, S> {
  using type = trial_of_scores<Values, S>;
};
template <std::size_t Values, class S>
using trial_with = typename trial_by<Values, S>::type;

template <class X>
inline constexpr bool is_score_function =
    std::is_class_v<X> && !operand<X> && !is_refused<X> && !mask_like<X> && !position_bias<X> && !scaling<X>;
template <class F, std::size_t Values, class... Given>
using trial_for = std::conditional_t<(is_score_function<Given> || ...), trial<F, Values>, no_trial>;

no_trial operator->*(const any_argument&, const any_argument&);
template <class F, std::size_t Values, operand Q>
trial<F, Values, Q> operator->*(trial<F, Values>, const Q& q);
template <class F, std::size_t Values, class Q, operand K>
auto operator->*(trial<F, Values, Q>, const K& k)
    -> trial_with<Values, decltype(functions::scores<F>(std::declval<const Q&>(), k))>;
template <std::size_t Values, class S, class X>
  requires(Values > 0)
trial_of_scores<Values - 1, S> operator->*(trial_of_scores<Values, S>, const X& x);
template <class S, class X, class How = std::conditional_t<is_score_function<X>, no_trial, X>>
  requires(!is_score_function<X>)
auto operator->*(trial_of_scores<0, S>, const X&)
    -> trial_with<0, decltype(functions::changed(std::declval<const S&>(), std::declval<const How&>()))>;
template <class S, class X, bool = is_lambda_that_takes<X, S>()>
  requires is_score_function<X>
auto operator->*(trial_of_scores<0, S>, const X& how)
    -> trial_with<0, std::remove_cvref_t<decltype(how(std::declval<const S&>()))>>;

}  // namespace detail

// Defines the function of this name: it returns the value of the formula, or its error (DIMWISE_DETAIL_CALL). Its
// deleted overload stands before the macro, because compilers take more lines for a declaration within one.
#define DIMWISE_DETAIL_ATTENTION_VERDICT(name) \
  DIMWISE_DETAIL_VERDICT(detail::functions::name<F, Key>(std::declval<const Given&>()...))
#define DIMWISE_DETAIL_ATTENTION(name, values)                                                                   \
  template <class F, class Key, class... Given, class Verdict = DIMWISE_DETAIL_ATTENTION_VERDICT(name)>          \
    requires(allowed<Verdict> && !(dimwise::detail::refused_operand<Given> || ...))                              \
  [[nodiscard]] auto name(const Given&... given) {                                                               \
    return detail::functions::name<F, Key>(given...);                                                            \
  }                                                                                                              \
  template <class F, class Key, class... Given,                                                                  \
            class Trial =                                                                                        \
                decltype(void((detail::trial_for<F, values, Given...>()->*...->*std::declval<const Given&>()))), \
            class Verdict = DIMWISE_DETAIL_ATTENTION_VERDICT(name)>                                              \
    requires(refused<Verdict> && !detail::deleted_where_refused<Given...>)                                       \
  Verdict name(const Given&... given)

template <class F, class Key, class... Given,
          class Trial = decltype(void((detail::trial_for<F, 0, Given...>()->*...->*std::declval<const Given&>()))),
          class Verdict = DIMWISE_DETAIL_ATTENTION_VERDICT(attention_weights)>
  requires(refused<Verdict> && detail::deleted_where_refused<Given...>)
Verdict attention_weights(const Given&... given) = delete;

/// `attention_weights<F, Key>(q, k, how…)`: softmax over Key of the masked and biased scores.
///
///   [queries, F, shared] x [Key, F, shared]  ->  [shared, queries, Key], normalised<Key>
DIMWISE_DETAIL_ATTENTION(attention_weights, 0);
DIMWISE_DETAIL_MISUSED(attention_weights)

template <class F, class Key, class... Given,
          class Trial = decltype(void((detail::trial_for<F, 1, Given...>()->*...->*std::declval<const Given&>()))),
          class Verdict = DIMWISE_DETAIL_ATTENTION_VERDICT(attention)>
  requires(refused<Verdict> && detail::deleted_where_refused<Given...>)
Verdict attention(const Given&... given) = delete;

/// `attention<F, Key>(q, k, v, how…)`: scaled dot-product attention, an expression that runs as one kernel.
///
///   [queries, F, shared] x [Key, F, shared] x [Key, V, shared]  ->  [shared, queries, V]
///
/// Dimensions that the operands share are parallel (batch, heads); each is optional. `how` changes the scores before
/// softmax, from left to right. The weights are rounded to the type of the queries: `rounded<bfloat16>(q)` with keys
/// and
/// values of bfloat16 uses bfloat16 products. Rejects what `scores`, `masked`, `biased`, `softmax` and `contract`
/// reject.
DIMWISE_DETAIL_ATTENTION(attention, 1);
DIMWISE_DETAIL_MISUSED(attention)

template <class F, class Key, class... Given,
          class Trial = decltype(void((detail::trial_for<F, 2, Given...>()->*...->*std::declval<const Given&>()))),
          class Verdict = DIMWISE_DETAIL_ATTENTION_VERDICT(attention_with_sinks)>
  requires(refused<Verdict> && detail::deleted_where_refused<Given...>)
Verdict attention_with_sinks(const Given&... given) = delete;

/// `attention_with_sinks<F, Key>(q, k, v, sinks, how…)`: attention whose softmax has one more logit per head, with
/// value
/// 0 (Xiao et al. 2023; learned in gpt-oss). Evaluated immediately.
///
///   [queries, F, shared] x [Key, F, shared] x [Key, V, shared] x [subset of shared]  ->  [shared, queries, V]
///
/// Rejects what `attention` rejects, sinks with dimensions that the result without V lacks (R1, R4), and sinks of wider
/// elements (R13).
DIMWISE_DETAIL_ATTENTION(attention_with_sinks, 2);
DIMWISE_DETAIL_MISUSED(attention_with_sinks)
#undef DIMWISE_DETAIL_ATTENTION
#undef DIMWISE_DETAIL_ATTENTION_VERDICT

}  // namespace dimwise::nn
