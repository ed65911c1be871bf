// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/heads/slot_attention.hpp -- slot attention, and the gated recurrent unit that updates the slots.
//
// Layer: nn. Locatello et al. 2020, "Object-Centric Learning with Slot Attention", algorithm 1.
// Tests: tests/nn/variants.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/heads/multi_head.hpp>
#include <dimwise/nn/layers/feed_forward.hpp>
#include <dimwise/nn/layers/norm.hpp>

namespace dimwise::nn {

/// A gated recurrent unit (Cho et al. 2014) with the candidate's reset gate as in PyTorch:
///
///   r = σ(W_r x + U_r h), z = σ(W_z x + U_z h), n = tanh(W_n x + r (U_n h)),  h' = (1 − z) n + z h
///
///   (x, h):  [In, rest] x [State, rest]  ->  [State, rest], in h's order
///
/// Rejects x without In, h without State (R1), and x with dimensions that h lacks (R3).
template <class In = argument::nothing, class State = argument::nothing, class T = float>
struct gru_cell {
  using input_layer = linear<from<In>, to<State>, with_bias, T>;
  using state_layer = linear<from<State>, to<State>, with_bias, T>;
  input_layer reset_x{};
  input_layer update_x{};
  input_layer new_x{};
  state_layer reset_h{};
  state_layer update_h{};
  state_layer new_h{};
  using members = member_list<&gru_cell::reset_x, &gru_cell::update_x, &gru_cell::new_x, &gru_cell::reset_h,
                              &gru_cell::update_h, &gru_cell::new_h>;

  template <detail::input X, detail::input H>
  auto formula(const X& given, const H& before) const {
    using namespace detail::functions;
    const auto& x = materialised(given);
    const auto& h = materialised(before);
    using state = decltype(stored(h));
    const auto r = evaluated_as<state>(sigmoid(plus(reset_h.formula(h), reset_x.formula(x))));
    const auto z = evaluated_as<state>(sigmoid(plus(update_h.formula(h), update_x.formula(x))));
    const auto n = evaluated_as<state>(tanh_of(plus(times(r, new_h.formula(h)), stored(new_x.formula(x)))));
    return evaluated_as<state>(plus(n, times(z, minus(h, n))));
  }
  DIMWISE_DETAIL_CALL(gru_cell, operator(), formula);
};
template <class In, class State, class T>
DIMWISE_DETAIL_TAKES(gru_cell, (In, State, T), detail::dimensions<In, State>, detail::weight_element<T>) {
  using gru_cell::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename gru_cell::error>) > 0);
};

namespace detail {

// An iteration count; 3 by default.
struct rounds {
  std::size_t value = 3;
  rounds() = default;
  rounds(std::size_t n) : value(n) {}             // implicit: from a number
  operator std::size_t() const { return value; }  // implicit: to a number
};

}  // namespace detail

/// Slot attention: slots compete for each input, and each slot takes the weighted mean of its inputs. A recurrent cell
/// and two layers update the slots. Repeats `iterations` times (3).
///
///   x = norm_inputs(inputs), and in every iteration
///   W = renormalise over Inputs of softmax over Slots of key(x) · query(norm_slots(slots)) / √|K|
///   slots = cell(W · value(x), slots),  slots += mlp(norm_state(slots))
///
///   (inputs, slots):  [Inputs, Features, rest] x [Slots, State, rest]  ->  [Slots, State, rest], in the slots' order
///
/// K are the common features of the products of inputs and slots, V the features of the updates, Hidden those between
/// the two layers. The caller provides the initial slots: random (the paper) or learned. The update of a slot whose
/// weights are all 0 is 0. Rejects inputs without Inputs and Features, slots without Slots and State (R1), and inputs
/// with dimensions that the slots lack (R3).
template <class Inputs = argument::nothing, class Slots = argument::nothing, class Features = argument::nothing,
          class State = argument::nothing, class K = argument::nothing, class V = argument::nothing,
          class Hidden = argument::nothing, class T = float>
struct slot_attention {
  using key_layer = linear<from<Features>, to<K>, no_bias, T>;
  using value_layer = linear<from<Features>, to<V>, no_bias, T>;
  using query_layer = linear<from<State>, to<K>, no_bias, T>;
  using input_norm = layer_norm<Features, elements<detail::activations_t<T>>>;
  using state_norm = layer_norm<State, elements<detail::activations_t<T>>>;
  using cell_type = gru_cell<V, State, T>;
  using mlp_type = feed_forward<State, Hidden, activation::relu, with_bias, T>;

  input_norm norm_inputs{};
  state_norm norm_slots{};
  state_norm norm_state{};
  key_layer key{};
  value_layer value{};
  query_layer query{};
  cell_type cell{};
  mlp_type mlp{};
  detail::rounds iterations{};
  using members = member_list<&slot_attention::norm_inputs, &slot_attention::norm_slots, &slot_attention::norm_state,
                              &slot_attention::key, &slot_attention::value, &slot_attention::query,
                              &slot_attention::cell, &slot_attention::mlp, &slot_attention::iterations>;

  template <detail::input X, detail::input S>
  auto formula(const X& inputs, const S& first) const {
    using namespace detail::functions;
    const auto x = stored(norm_inputs.formula(having<Inputs>(inputs)));
    const auto k = stored(key.formula(x));
    const auto v = stored(value.formula(x));
    return repeated(iterations, stored(having<Slots>(first)), [&](std::size_t, const auto& slots) {
      const auto q = query.formula(stored(norm_slots.formula(slots)));
      const auto shares = renormalise<Inputs>(softmax<Slots>(scores<K>(k, q)));
      const auto next = cell.formula(stored(contract<Inputs>(shares, v)), slots);
      return plus(next, stored(mlp.formula(stored(norm_state.formula(next)))));
    });
  }
  DIMWISE_DETAIL_CALL(slot_attention, operator(), formula);
};

template <class Inputs, class Slots, class Features, class State, class K, class V, class Hidden, class T>
DIMWISE_DETAIL_TAKES(slot_attention, (Inputs, Slots, Features, State, K, V, Hidden, T),
                     detail::positions<Inputs, Slots>, detail::features<Features, State, K, V, Hidden>,
                     detail::weight_element<T>) {
  using slot_attention::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename slot_attention::error>) > 0);
};

}  // namespace dimwise::nn
