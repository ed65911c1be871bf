// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/talking_heads.hpp -- attention whose heads are mixed before and after softmax.
//
// Layer: nn. Shazeer, Lan, Cheng, Ding and Hou 2020, "Talking-Heads Attention".
// Tests: tests/nn/variants.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/multi_head.hpp>

namespace dimwise::nn {

/// Talking-heads attention: scores of KeyHeads are mixed into Heads, weights of Heads into ValueHeads.
///
///   (query, key, value, how…):  [Q, Model, rest] x [P, Model, rest] x [P, Model, rest]  ->  [rest, Q, Model]
///
/// The three heads dimensions are distinct, a `prime` of each other or not. `how` changes the mixed scores as in `attention`.
template <class Model, class KeyHeads, class Heads, class ValueHeads, class K, class V, class T = float>
struct talking_heads_attention {
  using query_layer = linear<from<Model>, to<KeyHeads, K>, no_bias, T>;
  using value_layer = linear<from<Model>, to<ValueHeads, V>, no_bias, T>;
  using output_layer = linear<from<ValueHeads, V>, to<Model>, no_bias, T>;
  using score_mixer = tensor<T, KeyHeads, Heads>;
  using weight_mixer = tensor<T, Heads, ValueHeads>;

  BOOST_HANA_DEFINE_STRUCT(talking_heads_attention, (query_layer, query), (query_layer, key), (score_mixer, before),
                           (weight_mixer, after), (value_layer, value), (output_layer, output));

  template <class S>
  using mixed_scores = decltype(contract<KeyHeads>(detail::some<S>(), detail::some<score_mixer>()));
  template <class W>
  using mixed_weights = decltype(contract<Heads>(detail::some<W>(), detail::some<weight_mixer>()));
  template <class Q, class X>
  using scores_of = decltype(scores<K>(detail::some<Q>(), detail::some<X>()));
  // What a call does to types: each step an outcome, of which the first error is the call's.
  template <operand XQ, operand XK, operand XV, class... How>
  struct checked {
    using P = detail::positions_of_t<XK>;
    using q = typename query_layer::template outcome<XQ>;
    using k = typename query_layer::template outcome<XK>;
    using v = typename value_layer::template outcome<XV>;
    using inputs = typename detail::verdict_of<q, typename detail::positions_of<XK>::error, k, v>::type;
    template <class Inputs>
    struct rest {
      using type = Inputs;
    };
    template <allowed Inputs>
    struct rest<Inputs> {
      using s = typename detail::after<mixed_scores, scores_of<q, k>>::type;
      using w = typename detail::after<detail::weights_over<P>::template step,
                                       typename detail::outcome_of_changes<s, How...>::type>::type;
      using m = typename detail::after<mixed_weights, w>::type;
      using type = typename detail::verdict_of<
          typename detail::after_both<detail::values_over<P>::template step, m, v>::type>::type;
    };
    using type = typename rest<inputs>::type;
  };

  template <operand XQ, operand XK, operand XV, class... How,
            class Verdict = typename checked<XQ, XK, XV, How...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const XQ& queries, const XK& keys, const XV& values, const How&... how) const {
    using P = detail::positions_of_t<XK>;
    const auto logits =
        detail::all_changes(contract<KeyHeads>(scores<K>(query.formula(queries), key.formula(keys)), before), how...);
    const tensor weights = contract<Heads>(softmax<P>(logits), after);
    return tensor(output.formula(contract<P>(weights, value.formula(values))));
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);
};

}  // namespace dimwise::nn
