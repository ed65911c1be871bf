// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/attention.hpp -- scaled dot-product attention, what changes its scores, and sinks.
//
// Layer: nn.
//
//   attention<d_k, key>(q, k, v, causal<seq, key>{})        softmax(q·k / √|d_k|) · v      (Vaswani et al. 2017, equation 1)
//
// What changes the scores stands behind the values and is applied from left to right: masks, biases (tensors, or made of
// positions), and functions of scores, such as soft_cap{30} or a lambda of one's own.
//
// Tests: tests/nn/multi_head.test.cpp, tests/conformance/, tests/compile_fail/nn/
#pragma once

#include <dimwise/eval/partial_attention.hpp>
#include <dimwise/expr/restride.hpp>
#include <dimwise/nn/linear.hpp>

namespace dimwise::nn {

/// cap · tanh(s / cap): scores stay within ±cap (Gemma 2). Refuses what is masked already (R7); what is biased is capped with its bias.
struct soft_cap {
  double cap;
  template <operand S>
  using outcome = decltype(tanh(detail::some<S>()));
  template <operand S>
    requires detail::computed<outcome<S>>
  auto operator()(const S& s) const {
    using T = typename S::value_type;
    return tanh(s / static_cast<T>(cap)) * static_cast<T>(cap);
  }
  template <operand S>
    requires(!detail::computed<outcome<S>>)
  outcome<S> operator()(const S& s) const;
};

/// What makes scores of products: `root_scaled` is `scores<F>(q, k)`, and what is taken where nothing else is said.
struct root_scaled {
  template <class P>
  using step = decltype(scaled(detail::some<P>()));
  template <class F, class Q, class K>
  using outcome = decltype(scores<F>(detail::some<Q>(), detail::some<K>()));
  template <class F, class Q, class K>
  auto formula(const Q& q, const K& k) const {
    return scores<F>(q, k);
  }
};
/// Products as they are (T5).
struct not_scaled {
  template <class P>
  using step = decltype(unscaled(detail::some<P>()));
  template <class F, class Q, class K>
  using outcome = typename detail::after<step, decltype(contract<F>(detail::some<Q>(), detail::some<K>()))>::type;
  template <class F, class Q, class K>
  auto formula(const Q& q, const K& k) const {
    return unscaled(contract<F>(q, k));
  }
};
/// Products times a number of one's own.
struct scaled_by {
  double factor;
  template <class P>
  using step = decltype(scaled(detail::some<P>(), typename P::value_type()));
  template <class F, class Q, class K>
  using outcome = typename detail::after<step, decltype(contract<F>(detail::some<Q>(), detail::some<K>()))>::type;
  template <class F, class Q, class K>
  auto formula(const Q& q, const K& k) const {
    return scaled(contract<F>(q, k), static_cast<typename Q::value_type>(factor));
  }
};
/// One of these; it stands first among what changes scores.
template <class X>
concept scaling = std::same_as<X, root_scaled> || std::same_as<X, not_scaled> || std::same_as<X, scaled_by>;

namespace detail {

// One change of scores: a mask, a bias, or a function. A tensor of bool without polarity and one of the other polarity are
// errors of `masked`, a scaling behind others that of `scaled`, and anything else an error of its own.
template <class S, mask M>
auto changed(const S& s, const M& m) -> decltype(masked(s, m)) {
  return masked(s, m);
}
template <class S, class E>
auto changed(const S& s, const block_mask<E>& hidden) -> decltype(masked(s, hidden));
template <class S, position_bias B>
auto changed(const S& s, const B& b) -> decltype(biased(s, b)) {
  return biased(s, b);
}
template <class S, operand B>
  requires(!is_bool<value_of<B>>)
auto changed(const S& s, const B& b) -> decltype(biased(s, b)) {
  return biased(s, b);
}
template <class S, operand B>
  requires(is_bool<value_of<B>>)
auto changed(const S& s, const B& b) -> decltype(masked(s, b)) {
  return masked(s, b);
}
template <class S, class F>
  requires(std::invocable<const F&, const S&> && !mask<F> && !operand<F> && !position_bias<F>)
auto changed(const S& s, const F& f) -> decltype(f(s)) {
  return f(s);
}

template <class S, scaling By>
typename By::template step<S> changed(const S& s, const By& by);
template <class S, class X>
  requires(!mask<X> && !operand<X> && !position_bias<X> && !scaling<X> && !std::invocable<const X&, const S&>)
ERROR_R7_scores_change_by_a_mask_a_bias_or_a_function<op::scores, X, lhs_t<shape_of<S>>> changed(const S& s,
                                                                                                 const X& x);

template <class S>
const S& all_changes(const S& s) {
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
auto changed_scores(const Q& q, const K& k, const By& by, const How&... how) {
  return all_changes(by.template formula<F>(q, k), how...);
}

// The factor of the same, for products of so many features.
template <class... How>
double scale_of(std::size_t features, const How&...) {
  return 1 / std::sqrt(static_cast<double>(features));
}
template <class... How>
double scale_of(std::size_t, const not_scaled&, const How&...) {
  return 1;
}
template <class... How>
double scale_of(std::size_t, const scaled_by& by, const How&...) {
  return by.factor;
}

// The outcomes of the same.
template <class S, class... How>
struct outcome_of_changes {
  using type = S;
};
template <computed S, class First, class... Rest>
struct outcome_of_changes<S, First, Rest...>
    : outcome_of_changes<decltype(changed(some<S>(), some<First>())), Rest...> {};
template <class F, class Q, class K, class... How>
struct scores_outcome : outcome_of_changes<root_scaled::outcome<F, Q, K>, How...> {};
template <class F, class Q, class K, scaling By, class... How>
struct scores_outcome<F, Q, K, By, How...> : outcome_of_changes<typename By::template outcome<F, Q, K>, How...> {};

template <class Key>
struct weights_over {
  template <class S>
  using step = decltype(softmax<Key>(some<S>()));
};
template <class Key>
struct values_over {
  template <class W, class V>
  using step = decltype(contract<Key>(some<W>(), some<V>()));
};

// Whether a logit is one beside the log-sum-exp of scores: it has none but their dimensions without Key.
template <class Key>
struct log_sums_over {
  template <class S>
  using step = decltype(logsumexp<Key>(some<S>()));
};
// What `at` took of a dimension is no logit for all of it (R18).
template <class Logit>
struct logit_beside {
  template <class Sums>
  using assigned = after<assigned_to<decltype(plain(some<Sums>()))>::template step,
                         decltype(broadcast_like(some<Logit>(), some<Sums>()))>;
  template <class Sums>
  using taken =
      ERROR_R18_indexed_meets_its_dimension<op::broadcast_like, lhs_t<shape_of<Logit>>, rhs_t<shape_of<Sums>>>;
  template <class Sums>
  using step = typename std::conditional_t<indexed_meets<shape_of<Logit>, shape_of<Sums>>,
                                           std::type_identity<taken<Sums>>, assigned<Sums>>::type;
};

template <class F, class Key, class Q, class K, class... How>
using weights_outcome =
    typename after<weights_over<Key>::template step, typename scores_outcome<F, Q, K, How...>::type>::type;
template <class F, class Key, class Q, class K, class V, class... How>
using attention_outcome =
    typename after_both<values_over<Key>::template step, weights_outcome<F, Key, Q, K, How...>, V>::type;
template <class F, class Key, class Q, class K, class Sinks, class... How>
using sinks_outcome = typename after<
    logit_beside<Sinks>::template step,
    typename after<log_sums_over<Key>::template step, typename scores_outcome<F, Q, K, How...>::type>::type>::type;
template <class F, class Key, class Q, class K, class V, class Sinks, class... How>
using sinks_verdict =
    verdict_of<attention_outcome<F, Key, Q, K, V, How...>, sinks_outcome<F, Key, Q, K, Sinks, How...>>;

}  // namespace detail

/// The weights of attention, softmax over Key of the changed scores: [queries, F] x [Key, F] -> [queries, Key], normalised<Key>.
template <class F, class Key, operand Q, operand K, class... How,
          class Verdict = typename detail::verdict_of<detail::weights_outcome<F, Key, Q, K, How...>>::type>
  requires allowed<Verdict>
[[nodiscard]] auto attention_weights(const Q& q, const K& k, const How&... how) {
  return softmax<Key>(detail::changed_scores<F>(q, k, how...));
}
template <class F, class Key, operand Q, operand K, class... How,
          class Verdict = typename detail::verdict_of<detail::weights_outcome<F, Key, Q, K, How...>>::type>
  requires(refused<Verdict> && !detail::deleted_where_refused<How...>)
Verdict attention_weights(const Q& q, const K& k, const How&... how);
template <class F, class Key, operand Q, operand K, class... How,
          class Verdict = typename detail::verdict_of<detail::weights_outcome<F, Key, Q, K, How...>>::type>
  requires(refused<Verdict> && detail::deleted_where_refused<How...>)
Verdict attention_weights(const Q& q, const K& k, const How&... how) = delete;

/// Scaled dot-product attention, an expression that runs as one kernel.
///
///   [queries, F, shared] x [Key, F, shared] x [Key, V, shared]  ->  [shared, queries, V]
///
/// One query or many, with heads or without, of one batch or none: what the operands share is parallel. `how` changes the
/// scores before softmax, from left to right. Refuses what `scores`, `masked`, `biased`, `softmax` and `contract` refuse.
template <class F, class Key, operand Q, operand K, operand V, class... How,
          class Verdict = typename detail::verdict_of<detail::attention_outcome<F, Key, Q, K, V, How...>>::type>
  requires allowed<Verdict>
[[nodiscard]] auto attention(const Q& q, const K& k, const V& v, const How&... how) {
  return contract<Key>(attention_weights<F, Key>(q, k, how...), v);
}
template <class F, class Key, operand Q, operand K, operand V, class... How,
          class Verdict = typename detail::verdict_of<detail::attention_outcome<F, Key, Q, K, V, How...>>::type>
  requires(refused<Verdict> && !detail::deleted_where_refused<How...>)
Verdict attention(const Q& q, const K& k, const V& v, const How&... how);
template <class F, class Key, operand Q, operand K, operand V, class... How,
          class Verdict = typename detail::verdict_of<detail::attention_outcome<F, Key, Q, K, V, How...>>::type>
  requires(refused<Verdict> && detail::deleted_where_refused<How...>)
Verdict attention(const Q& q, const K& k, const V& v, const How&... how) = delete;

namespace detail {

// A part of attention beside a key that was not there: its logit is `logit`, its value `value`.
template <class Output, class Sums, operand Logit, operand Value>
attention_part<Output, Sums> beside(const attention_part<Output, Sums>& part, const Logit& logit, const Value& value) {
  const Sums own = broadcast_like(logit, part.log_sum_exp);
  return merge(part, attention_part<Output, Sums>{broadcast_like(value, part.output), own});
}
// The same where the value is 0: the key takes its share of the weights and gives nothing.
template <class Output, class Sums, operand Logit>
attention_part<Output, Sums> beside(const attention_part<Output, Sums>& part, const Logit& logit) {
  const Sums own = broadcast_like(logit, part.log_sum_exp);
  return {part.output * map(share_of{}, part.log_sum_exp, own), map(sum_of_logs{}, part.log_sum_exp, own)};
}
template <class Key, class S, class V>
auto part_of_attention(const S& s, const V& v) {
  const auto part = partial_attention<Key>(s, v);
  return attention_part{part.output, tensor(plain(part.log_sum_exp))};
}

}  // namespace detail

/// Attention whose softmax has one more logit, which takes its share of the weights and gives nothing: a sink for each head
/// (Xiao et al. 2023; learned in gpt-oss). Computed at once.
///
///   [queries, F, shared] x [Key, F, shared] x [Key, V, shared] x [subset of shared]  ->  [shared, queries, V]
///
/// Refuses what `attention` refuses, and sinks with other dimensions than those of the result without V (R3).
template <class F, class Key, operand Q, operand K, operand V, operand Sinks, class... How,
          class Verdict = typename detail::sinks_verdict<F, Key, Q, K, V, Sinks, How...>::type>
  requires allowed<Verdict>
[[nodiscard]] auto attention_with_sinks(const Q& q, const K& k, const V& v, const Sinks& sinks, const How&... how) {
  return detail::beside(detail::part_of_attention<Key>(detail::changed_scores<F>(q, k, how...), v), sinks).output;
}
template <class F, class Key, operand Q, operand K, operand V, operand Sinks, class... How,
          class Verdict = typename detail::sinks_verdict<F, Key, Q, K, V, Sinks, How...>::type>
  requires(refused<Verdict> && !detail::deleted_where_refused<How...>)
Verdict attention_with_sinks(const Q& q, const K& k, const V& v, const Sinks& sinks, const How&... how);
template <class F, class Key, operand Q, operand K, operand V, operand Sinks, class... How,
          class Verdict = typename detail::sinks_verdict<F, Key, Q, K, V, Sinks, How...>::type>
  requires(refused<Verdict> && detail::deleted_where_refused<How...>)
Verdict attention_with_sinks(const Q& q, const K& k, const V& v, const Sinks& sinks, const How&... how) = delete;

}  // namespace dimwise::nn
