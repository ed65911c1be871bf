// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/heads/talking_heads.hpp -- talking-heads attention: heads are mixed before and after softmax.
//
// Layer: nn. Shazeer, Lan, Cheng, Ding and Hou 2020, "Talking-Heads Attention".
// Tests: tests/nn/variants.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/heads/multi_head.hpp>

namespace dimwise::nn {

/// Talking-heads attention: mixes the scores of KeyHeads into Heads, and the weights of Heads into ValueHeads.
///
///   (query, key, value, how…):  [Q, Model, rest] x [P, Model, rest] x [P, Model, rest]  ->  [rest, Q, Model]
///
/// The three heads dimensions are distinct; they may be a `prime` of each other. `how` changes the mixed scores as in
/// `attention`.
template <class Model = argument::nothing, class KeyHeads = argument::nothing, class Heads = argument::nothing,
          class ValueHeads = argument::nothing, class K = argument::nothing, class V = argument::nothing,
          class T = float>
struct talking_heads_attention {
  using role = argument::attention;
  using query_layer = linear<from<Model>, to<KeyHeads, K>, no_bias, T>;
  using value_layer = linear<from<Model>, to<ValueHeads, V>, no_bias, T>;
  using output_layer = linear<from<ValueHeads, V>, to<Model>, no_bias, T>;
  using score_mixer = tensor<T, KeyHeads, Heads>;
  using weight_mixer = tensor<T, Heads, ValueHeads>;

  query_layer query{};
  query_layer key{};
  score_mixer before{};
  weight_mixer after{};
  value_layer value{};
  output_layer output{};
  using members =
      member_list<&talking_heads_attention::query, &talking_heads_attention::key, &talking_heads_attention::before,
                  &talking_heads_attention::after, &talking_heads_attention::value, &talking_heads_attention::output>;

  template <detail::input XQ, detail::input XK, detail::input XV, class... How>
  auto formula(const XQ& queries, const XK& keys, const XV& values, const How&... how) const {
    using namespace detail::functions;
    using P = detail::positions_of_t<XK>;
    const auto s = scores<K>(query.formula(queries), key.formula(at_positions(keys)));
    const auto weights = softmax<P>(all_changes(contract<KeyHeads>(s, before), how...));
    return output.formula(contract<P>(stored(contract<Heads>(weights, after)), value.formula(values)));
  }
  DIMWISE_DETAIL_CALL(talking_heads_attention, operator(), formula);
};

template <class Model, class KeyHeads, class Heads, class ValueHeads, class K, class V, class T>
DIMWISE_DETAIL_TAKES(talking_heads_attention, (Model, KeyHeads, Heads, ValueHeads, K, V, T), detail::features<Model>,
                     detail::heads<KeyHeads, Heads, ValueHeads>, detail::features<K, V>, detail::element<T>,
                     detail::once<KeyHeads, Heads>, detail::once<Heads, ValueHeads>) {
  using talking_heads_attention::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename talking_heads_attention::error>) > 0);
};

}  // namespace dimwise::nn
