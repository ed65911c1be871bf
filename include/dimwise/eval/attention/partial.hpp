// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/partial.hpp -- attention over some of the keys, and how two parts become one.
//
// Layer: eval.
// Tests: tests/nn/log_sum_exp.test.cpp, tests/compile_fail/cache/
//
//   merge(partial_attention<key>(scores<d_k>(q, k1), v1), partial_attention<key>(scores<d_k>(q, k2), v2)).output
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/expr/products/scores.hpp>
#include <dimwise/support/math.hpp>

namespace dimwise {

/// Attention over some keys: `output` weighs their values alone, `log_sum_exp` is log Σ exp of the scores, −∞ where no
/// key counts (and the output 0), NaN where a score is NaN or +∞.
template <class Output, class Sums>
struct attention_part {
  Output output;
  Sums log_sum_exp;
};
template <class Output, class Sums>
attention_part(Output, Sums) -> attention_part<Output, Sums>;

namespace detail {

template <class Key, class S, class V>
consteval auto judge_attention() {
  using weights = rule::softmax<op::softmax, list<Key>, S>;
  if constexpr (allowed<weights>) {
    return answer<rule::contract<list<Key>, list<>, typename weights::shape, V>>{};
  } else {
    return answer<weights>{};
  }
}

// The weight of a part whose log-sum-exp is `own`, beside one of `other`.
struct share_of {
  template <class T>
  T operator()(T own, T other) const {
    return own == -std::numeric_limits<T>::infinity() ? T(0) : T(1) / (T(1) + math::exp(other - own));
  }
  template <std::size_t I, class T>
  T derivative(T own, T other) const {
    const T share = (*this)(own, other);
    return (I == 0 ? share : -share) * (T(1) - share);
  }
};
// A row that a score of +∞ made NaN has no logarithm to merge by.
struct log_of_part {
  template <class T>
  T operator()(T log_sum) const {
    return log_sum == std::numeric_limits<T>::infinity() ? std::numeric_limits<T>::quiet_NaN() : log_sum;
  }
  template <std::size_t, class T>
  T derivative(T) const {
    return T(1);
  }
};
struct sum_of_logs {
  template <class T>
  T operator()(T a, T b) const {
    const T larger = a < b ? b : a;
    const T smaller = a < b ? a : b;
    return smaller == -std::numeric_limits<T>::infinity() ? larger : larger + math::log1p(math::exp(smaller - larger));
  }
  template <std::size_t I, class T>
  T derivative(T a, T b) const {
    return I == 0 ? share_of{}(a, b) : share_of{}(b, a);
  }
};

// The attention `attended`, and the log-sum-exp of its scores: in one pass where a kernel takes it.
template <class Attended, class LogSums>
auto attention_part_of(const Attended& attended, const LogSums& sums) {
  using C = value_of<Attended>;
  if constexpr (has_kernels<C>) {
    context& cx = current_context();
    if (!cx.reference_forced() && size_of(attended) > 0) {
      using output = decltype(tensor(attended));
      using log_sums = decltype(tensor(sums));
      attention_part result{output::for_overwriting(attended.extents()), log_sums::for_overwriting(sums.extents())};
      axis to[max_rank];
      (void)read_leaf(result.output, to);
      const named_memory_of<C> rows = named(result.log_sum_exp, result.log_sum_exp.overwrite());
      const target<C> output_rows{result.output.overwrite(), to};
      evaluation_pass pass{cx};
      [[maybe_unused]] const values_read_by<C, evaluation_pass, Attended> once(pass, attended);
      if (attend_node(pass, attended, output_rows, &rows)) { return result; }
    }
  }
  return attention_part{tensor(attended), decltype(tensor(sums))(map(log_of_part{}, sums))};
}

}  // namespace detail

namespace rule {
template <class Key, class S, class V>
using attention = typename decltype(detail::judge_attention<Key, S, V>())::type;
}  // namespace rule

namespace no_adl {

/// softmax<Key>(s) contracted with v over the keys that there are, with the log-sum-exp that `merge` needs: computed at
/// once, in one pass where a kernel takes it.
///
///   [Q, Key, rest] x [Key, V, rest]  ->  output [Q, V, rest], log_sum_exp [Q, rest]
///
/// Rejects what `softmax` and `contract` reject.
template <class Key, operand S, operand V,
          class Verdict = rule::attention<Key, detail::shape_of<S>, detail::shape_of<V>>>
  requires allowed<Verdict>
[[nodiscard]] auto partial_attention(const S& s, const V& v) {
  return detail::attention_part_of(contract<Key>(softmax<Key>(s), v), logsumexp<Key>(s));
}
template <class Key, operand S, operand V,
          class Verdict = rule::attention<Key, detail::shape_of<S>, detail::shape_of<V>>>
  requires refused<Verdict>
Verdict partial_attention(const S& s, const V& v);
DIMWISE_DETAIL_MISUSED(partial_attention)

/// Attention over the keys of both parts (Dao et al. 2023, Flash-Decoding; Liu, Zaharia and Abbeel 2023, ring
/// attention):
///
///   output = (e^a A + e^b B) / (e^a + e^b),  log_sum_exp = log(e^a + e^b)   for the outputs A, B and log-sum-exps a, b
///
/// Exact whatever a and b are: neither is exponentiated alone, and a part that saw nothing (−∞) adds nothing.
template <class Output, class Sums>
[[nodiscard]] attention_part<Output, Sums> merge(const attention_part<Output, Sums>& a,
                                                 const attention_part<Output, Sums>& b) {
  const auto share = [](const Sums& own, const Sums& other) { return map(detail::share_of{}, own, other); };
  return {a.output * share(a.log_sum_exp, b.log_sum_exp) + b.output * share(b.log_sum_exp, a.log_sum_exp),
          map(detail::sum_of_logs{}, a.log_sum_exp, b.log_sum_exp)};
}
template <class Output, class Sums, class OtherOutput, class OtherSums,
          class Error = ERROR_R10_operands_differ_in_another_dimension<
              op::merge, detail::lhs_t<detail::shape_of<Output>>, detail::rhs_t<detail::shape_of<OtherOutput>>>>
  requires(!std::is_same_v<attention_part<Output, Sums>, attention_part<OtherOutput, OtherSums>>)
Error merge(const attention_part<Output, Sums>& a, const attention_part<OtherOutput, OtherSums>& b);

}  // namespace no_adl

}  // namespace dimwise
