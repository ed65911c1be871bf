// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/slot_attention.hpp -- slots that compete for inputs, and the recurrent cell that updates them.
//
// Layer: nn. Locatello et al. 2020, "Object-Centric Learning with Slot Attention", algorithm 1.
// Tests: tests/nn/variants.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/feed_forward.hpp>
#include <dimwise/nn/multi_head.hpp>
#include <dimwise/nn/norm.hpp>

namespace dimwise::nn {

namespace detail {

template <class F>
struct scores_over {
  template <class Q, class K>
  using step = decltype(scores<F>(some<Q>(), some<K>()));
};
template <class D>
struct means_over {
  template <class W>
  using step = decltype(renormalise<D>(some<W>()));
};

}  // namespace detail

/// A gated recurrent unit (Cho et al. 2014), with the candidate's reset as PyTorch has it:
///
///   r = σ(W_r x + U_r h), z = σ(W_z x + U_z h), n = tanh(W_n x + r (U_n h)),  h' = (1 − z) n + z h
///
///   (x, h):  [In, rest] x [State, rest]  ->  [State, rest], in h's order
///
/// Refuses x without In, h without State (R1), and x with dimensions that h lacks (R3).
template <class In, class State, class T = float>
struct gru_cell {
  using input_layer = linear<from<In>, to<State>, with_bias, T>;
  using state_layer = linear<from<State>, to<State>, with_bias, T>;
  BOOST_HANA_DEFINE_STRUCT(gru_cell, (input_layer, reset_x), (input_layer, update_x), (input_layer, new_x),
                           (state_layer, reset_h), (state_layer, update_h), (state_layer, new_h));

  // Gates are as the state: what x has besides, they have no place for (R3).
  template <operand X, operand H>
  struct checked {
    using gate = typename detail::after_both<detail::added::step, typename state_layer::template outcome<H>,
                                             typename input_layer::template outcome<X>>::type;
    using type =
        typename detail::verdict_of<typename detail::after<detail::assigned_to<H>::template step, gate>::type>::type;
  };

  template <operand X, operand H, class Verdict = typename checked<X, H>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const X& given, const H& before) const {
    const auto& x = detail::computed_once(given);
    const auto& h = detail::computed_once(before);
    using state = decltype(tensor(h));
    const state r = sigmoid(reset_h.formula(h) + reset_x.formula(x));
    const state z = sigmoid(update_h.formula(h) + update_x.formula(x));
    const state n = tanh(new_x(x) + r * new_h.formula(h));
    return state(n + z * (h - n));
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);
};

/// Slot attention: for every input the slots compete, each slot takes the weighted mean of its inputs, a recurrent cell and
/// two layers update it; `iterations` times (3).
///
///   x = norm_inputs(inputs), and in every round
///   W = renormalise over Inputs of softmax over Slots of key(x) · query(norm_slots(slots)) / √|K|
///   slots = cell(W · value(x), slots),  slots += mlp(norm_state(slots))
///
///   (inputs, slots):  [Inputs, Features, rest] x [Slots, State, rest]  ->  [Slots, State, rest], in the slots' order
///
/// K are the features in which inputs and slots meet, V those that slots take in, Hidden those between the two layers. The
/// first slots are the caller's: drawn (the paper), or learned. A slot that gets no share at all takes the mean of nothing,
/// 0. Refuses inputs without Inputs and Features, slots without Slots and State (R1), and inputs with dimensions that the
/// slots have no place for (R3).
template <class Inputs, class Slots, class Features, class State, class K, class V, class Hidden>
struct slot_attention {
  using key_layer = linear<from<Features>, to<K>, no_bias>;
  using value_layer = linear<from<Features>, to<V>, no_bias>;
  using query_layer = linear<from<State>, to<K>, no_bias>;
  using input_norm = layer_norm<Features>;
  using state_norm = layer_norm<State>;
  using cell_type = gru_cell<V, State>;
  using mlp_type = feed_forward<State, Hidden>;

  BOOST_HANA_DEFINE_STRUCT(slot_attention, (input_norm, norm_inputs), (state_norm, norm_slots),
                           (state_norm, norm_state), (key_layer, key), (value_layer, value), (query_layer, query),
                           (cell_type, cell), (mlp_type, mlp));
  std::size_t iterations = 3;

  template <class S>
  struct updated {
    template <class Updates>
    using step = typename cell_type::template checked<Updates, S>::type;
  };
  // One round: each step an outcome, of which the first error is the call's.
  template <operand X, operand S>
  struct checked {
    using x = detail::last_of_t<detail::has<Inputs, X>, typename input_norm::template outcome<X>>;
    using state = detail::last_of_t<detail::has<Slots, S>, typename state_norm::template outcome<S>>;
    using k = typename detail::after<key_layer::template outcome, x>::type;
    using q = typename detail::after<query_layer::template outcome, state>::type;
    using scores = typename detail::after_both<detail::scores_over<K>::template step, k, q>::type;
    using shares = typename detail::after<detail::weights_over<Slots>::template step, scores>::type;
    using means = typename detail::after<detail::means_over<Inputs>::template step, shares>::type;
    using updates = typename detail::after_both<detail::values_over<Inputs>::template step, means,
                                                typename detail::after<value_layer::template outcome, x>::type>::type;
    using type = typename detail::verdict_of<typename detail::after<updated<S>::template step, updates>::type>::type;
  };

  template <operand X, operand S, class Verdict = typename checked<X, S>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const X& inputs, const S& first) const {
    const tensor x = norm_inputs.formula(inputs);
    const tensor k = key.formula(x);
    const tensor v = value.formula(x);
    auto slots = tensor(first);
    using state = decltype(slots);
    for (std::size_t i = 0; i < iterations; ++i) {
      const auto shares = softmax<Slots>(scores<K>(k, query.formula(norm_slots(slots))));
      const tensor updates = contract<Inputs>(renormalise<Inputs>(shares), v);
      const state next = cell(updates, slots);
      slots = next + mlp(norm_state(next));
    }
    return slots;
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);
};

}  // namespace dimwise::nn
