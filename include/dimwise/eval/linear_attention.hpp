// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/linear_attention.hpp -- attention without softmax: a state of fixed extent instead of all keys and
// values.
//
// Layer: eval. A call computes at once, position by position, in O(1) memory. The type of the update says how the state
// changes.
// Tests: tests/nn/linear_attention.test.cpp, tests/compile_fail/linear_attention/
//
//   nn::linear_state<float, batch, kv_heads, d_k, d_v> s(batch{2});
//   auto y = nn::linear_attention<seq, d_k>(q, k, v, s, nn::gated_delta_update{decay, beta});   // updates s
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/shape/rules/linear_attention.hpp>
#include <dimwise/support/math.hpp>

#include <optional>

namespace dimwise::nn {

/// The state of linear attention: for each key feature a value, summed over all positions so far.
template <class T, class... D>
using linear_state = tensor<T, D...>;

/// S += k ⊗ v (Katharopoulos et al. 2020).
struct linear_update {};
/// S = e^g S + k ⊗ v: `decay` is g, [P, subset of S], a number for each head or for each feature of its keys (Yang et
/// al. 2024, gated linear attention).
template <class Decay>
struct gated_update {
  Decay decay;
};
/// S += k ⊗ β (v − Sᵀk): replaces the value that the state has for this key. `beta` is β, [P, subset of the values]
/// (Schlag, Irie and Schmidhuber 2021).
template <class Beta>
struct delta_update {
  Beta beta;
};
/// S = e^g S + k ⊗ β (v − e^g Sᵀk) (Yang, Kautz and Hatamizadeh 2024).
template <class Decay, class Beta>
struct gated_delta_update {
  Decay decay;
  Beta beta;
};
template <class Decay>
gated_update(Decay) -> gated_update<Decay>;
template <class Beta>
delta_update(Beta) -> delta_update<Beta>;
template <class Decay, class Beta>
gated_delta_update(Decay, Beta) -> gated_delta_update<Decay, Beta>;

}  // namespace dimwise::nn

namespace dimwise::detail {

// The factors of an update: a decay of the state, a β of the values, or both.
template <class Update>
concept decays = requires(const Update& u) { u.decay; };
template <class Update>
concept corrects = requires(const Update& u) { u.beta; };

// A factor of an update: a number has no positions (R1).
template <class P, class Changed, class X>
struct judged_factor : std::type_identity<ERROR_R1_operation_takes_other_arguments<op::linear_attention, X>> {};
template <class P, class Changed, operand X>
struct judged_factor<P, Changed, X> : std::type_identity<rule::state_change<P, Changed, shape_of<X>>> {};
template <class P, class Changed, class X>
using change_t = typename judged_factor<P, Changed, X>::type;

// The rules of the operands and of what the update holds: the first that rejects.
template <class P, class State, class Update>
struct decay_verdict : std::type_identity<accepted<State>> {};
template <class P, class State, decays Update>
struct decay_verdict<P, State, Update> : std::type_identity<change_t<P, State, decltype(Update::decay)>> {};
template <class P, class V, class Update>
struct beta_verdict : std::type_identity<accepted<V>> {};
template <class P, class V, corrects Update>
struct beta_verdict<P, V, Update> : std::type_identity<change_t<P, V, decltype(Update::beta)>> {};

template <class P, class F, class Q, class K, class V, class State, class Update>
consteval auto judge_updated() {
  using all = rule::linear_attention<P, F, Q, K, V, State>;
  using decay = typename decay_verdict<P, State, Update>::type;
  using beta = typename beta_verdict<P, V, Update>::type;
  if constexpr (refused<all>) {
    return answer<all>{};
  } else if constexpr (refused<decay>) {
    return answer<decay>{};
  } else if constexpr (refused<beta>) {
    return answer<beta>{};
  } else {
    return answer<all>{};
  }
}
template <class P, class F, class Q, class K, class V, class State, class Update>
using linear_verdict = typename decltype(judge_updated<P, F, Q, K, V, State, Update>())::type;

// The state after position t.
template <class F, class State, class K, class V, class Update>
State updated(const State& s, const K& k, const V& v, const Update& here) {
  const auto decayed = [&] {
    if constexpr (decays<Update>) {
      return s * exp(here.decay);
    } else {
      return s;
    }
  }();
  if constexpr (corrects<Update>) {
    const State before = decayed;
    const tensor correction = (v - contract<F>(k, before)) * here.beta;
    return before + outer(k, correction);
  } else {
    return decayed + outer(k, v);
  }
}
// An update with other factors: those of one position.
template <class Decay>
struct with_decay {
  Decay decay;
};
template <class Beta>
struct with_beta {
  Beta beta;
};
template <class Decay, class Beta>
struct with_decay_and_beta {
  Decay decay;
  Beta beta;
};
// An update with f(x) for each of its factors x.
template <class Update, class F>
auto update_of(const Update& u, const F& f) {
  if constexpr (decays<Update> && corrects<Update>) {
    return with_decay_and_beta<decltype(f(u.decay)), decltype(f(u.beta))>{f(u.decay), f(u.beta)};
  } else if constexpr (decays<Update>) {
    return with_decay<decltype(f(u.decay))>{f(u.decay)};
  } else if constexpr (corrects<Update>) {
    return with_beta<decltype(f(u.beta))>{f(u.beta)};
  } else {
    return u;
  }
}

// An update whose factors are computed once: each position reads them. Their extents are those of the whole (R15).
template <class Atoms, class Update>
auto stored_update(const extents_of<Atoms>& all, const Update& u) {
  return update_of(u, [&](const auto& x) {
    (void)merge_extents<Atoms>("linear_attention", all, x.extents());
    return tensor(x);
  });
}

// Whether one of the operands is tracked: the backward pass is recorded then (grad/operations/linear_attention.hpp).
template <class T, class Update, class... X>
consteval bool is_trained_recurrence() {
  bool any = (is_tracked<X> || ...) || is_tracked_type<T>;
  if constexpr (decays<Update>) { any = any || is_tracked<decltype(Update::decay)>; }
  if constexpr (corrects<Update>) { any = any || is_tracked<decltype(Update::beta)>; }
  return any;
}

}  // namespace dimwise::detail

namespace dimwise::nn {

/// Attention through a state: at each position of P, key and value update the state, and the query reads it.
///
///   y_t = scale · Sᵀ_t q_t          S_t = update(S_{t−1}, k_t, v_t)
///
///   [P, F, heads…] x [P, F, kv heads…] x [P, V, kv heads…] x S [F, V, kv heads…]  ->  [P, V, heads…]
///
/// Queries may have heads that share a state (grouped heads, R11). The call begins with `state` and replaces it by the
/// state after the last position; an exception leaves it unchanged. `scale` is 1/√|F| by default. Rejects operands that
/// do not distinguish query, key, value and state (R1, R3, R16), positions without an order (R13) or of several
/// documents (R19), rotations that differ (R9), decays and betas that have other dimensions than what they change (R8).
/// Throws `extent_error` if extents differ, those of decays and betas included (R15).
template <class P, class F, operand Q, operand K, operand V, class T, class... S, class Update = linear_update,
          class Verdict = detail::linear_verdict<P, F, detail::shape_of<Q>, detail::shape_of<K>, detail::shape_of<V>,
                                                 shape<S...>, Update>>
  requires(allowed<Verdict> && !detail::is_trained_recurrence<T, Update, Q, K, V>())
[[nodiscard]] auto linear_attention(const Q& q, const K& k, const V& v, tensor<T, S...>& state,
                                    const Update& update = {}, std::optional<double> scale = {}) {
  using result_shape = typename Verdict::shape;
  using rest = detail::difference_t<detail::dims_t<result_shape>, detail::list<P>>;
  using by_position = detail::tensor_of<T, detail::make_shape_t<detail::join_t<detail::list<P>, rest>, detail::list<>>>;
  using one_row = detail::view_of<T, detail::make_shape_t<rest, detail::list<>>>;
  const auto e = detail::merge_extents<
      detail::union_t<typename Q::extents_type::atoms,
                      detail::union_t<typename K::extents_type::atoms, typename V::extents_type::atoms>>>(
      "linear_attention", q.extents(), k.extents(), v.extents(), state.extents());
  const double factor = scale ? *scale : 1 / detail::math::sqrt(static_cast<double>(e.template extent<F>()));
  auto y = by_position::for_overwriting(
      detail::merge_extents<typename by_position::extents_type::atoms>("linear_attention", e));
  const auto one = detail::merge_extents<typename one_row::extents_type::atoms>("linear_attention", e);
  const extent_t positions = e.template extent<P>();
  const std::size_t size = positions == 0 ? 0 : y.size() / positions;
  // Each position reads them, so they are computed once.
  const tensor queries = q;
  const tensor all_keys = k;
  const tensor all_values = v;
  const auto changes = detail::stored_update(e, update);
  tensor<T, S...> s = state;
  for (std::size_t t = 0; t < positions; ++t) {
    const auto here = [t](const auto& x) { return at<P>(x, t); };
    s = detail::updated<F>(s, here(all_keys), here(all_values), detail::update_of(changes, here));
    auto row = one_row::over({y.overwrite() + t * size, size}, one);
    row = contract<F>(here(queries), s) * factor;
  }
  state = s;
  return detail::tensor_of<T, result_shape>(y);
}
template <class P, class F, operand Q, operand K, operand V, class T, class... S, class Update = linear_update,
          class Verdict = detail::linear_verdict<P, F, detail::shape_of<Q>, detail::shape_of<K>, detail::shape_of<V>,
                                                 shape<S...>, Update>>
  requires refused<Verdict>
Verdict linear_attention(const Q& q, const K& k, const V& v, tensor<T, S...>& state, const Update& update = {},
                         std::optional<double> scale = {});
DIMWISE_DETAIL_MISUSED(linear_attention)

}  // namespace dimwise::nn
