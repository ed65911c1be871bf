// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/latent_attention.hpp -- attention whose keys and values come from one small vector a position.
//
// Layer: nn. Multi-head latent attention, DeepSeek-AI 2024, section 2.1.
// Tests: tests/nn/latent_attention.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/multi_head.hpp>

namespace dimwise::nn {

namespace detail {

// First what comes in; where that is right, the products of what it becomes, as the scores that are changed and weighed.
template <class Module, class Border, class XQ, class XK, class... How>
struct latent_verdict {
  using type = Border;
};
template <class Module, allowed Border, class XQ, class XK, class... How>
struct latent_verdict<Module, Border, XQ, XK, How...> {
  using content = typename Module::content;
  using q = decltype(some<typename Module::query_layer>()(some<XQ>()));
  using c = decltype(some<typename Module::compress_layer>()(some<XK>()));
  using kv = decltype(some<typename Module::expand_layer>()(part<typename Module::latent>(some<c>())));
  template <class Products>
  using as_scores = decltype(unscaled(some<Products>()));
  using scores = typename after<as_scores, decltype(contract<content>(part<content>(some<q>()), part<content>(some<kv>())))>::type;
  using weights = typename after<weights_over<positions_of_t<XK>>::template step, typename outcome_of_changes<scores, How...>::type>::type;
  using type = typename verdict_of<weights>::type;
};

}  // namespace detail

/// Multi-head latent attention: what a cache needs of a position is a latent vector and one rotated key for all heads.
///
///   (x, there, how…):  [Q, Model, rest] x [K, Model, rest]  ->  [rest, Q, Model]
///
/// Content are the features of queries and keys that carry no position, Rot those that rotary turns, V those of values,
/// Latent those that are compressed to. Scores are scaled by 1/√(|Content| + |Rot|). `how` changes scores as in `attention`.
template <class Model, class Heads, class Content, class Rot, class V, class Latent, class T = float>
struct latent_attention {
  using query_layer = linear<from<Model>, to<Heads, summed<Content, Rot>>, no_bias, T>;
  using compress_layer = linear<from<Model>, to<summed<Latent, Rot>>, no_bias, T>;
  using expand_layer = linear<from<Latent>, to<Heads, summed<Content, V>>, no_bias, T>;
  using output_layer = linear<from<Heads, V>, to<Model>, no_bias, T>;
  using latent_norm = rms_norm<Latent>;
  using content = Content;
  using latent = Latent;

  BOOST_HANA_DEFINE_STRUCT(latent_attention, (query_layer, query), (compress_layer, compress), (latent_norm, norm), (expand_layer, expand),
                           (output_layer, output));
  rotary_options rotation = {};

  /// What stands for a position: [Model, rest] -> `latent` [rest, Latent], normed, and `key` [rest, Rot], rotated.
  template <class L, class R>
  struct compressed_position {
    L latent;
    R key;
  };
  template <operand X>
  [[nodiscard]] auto compressed(const X& x) const {
    const tensor both = compress.formula(x);
    const tensor latent = norm.formula(part<Latent>(both));
    const tensor key = rotary<detail::positions_of_t<X>, Rot>(part<Rot>(both), rotation);
    return compressed_position<std::remove_const_t<decltype(latent)>, std::remove_const_t<decltype(key)>>{latent, key};
  }

  template <class XQ, class XK, class... How>
  struct checked : detail::latent_verdict<latent_attention, typename detail::verdict_of<typename query_layer::template outcome<XQ>, typename compress_layer::template outcome<XK>,
                                                                                         typename detail::positions_of<XQ>::error, typename detail::positions_of<XK>::error>::type,
                                          XQ, XK, How...> {};

  template <operand XQ, operand XK, class... How, class Verdict = typename checked<XQ, XK, How...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const XQ& x, const XK& there, const How&... how) const {
    return attend(x, compressed(there), how...);
  }
  template <operand XQ, operand XK, class... How, class Verdict = typename checked<XQ, XK, How...>::type>
    requires refused<Verdict>
  Verdict operator()(const XQ& x, const XK& there, const How&... how) const;

  /// The same over positions that were compressed before.
  template <operand XQ, class L, class R, class... How>
  [[nodiscard]] auto attend(const XQ& x, const compressed_position<L, R>& there, const How&... how) const {
    using key_position = detail::positions_of_t<L>;
    const tensor q = query.formula(x);
    const tensor kv = expand.formula(there.latent);
    const tensor turned = rotary<detail::positions_of_t<XQ>, Rot>(part<Rot>(q), rotation);
    const auto content = contract<Content>(part<Content>(q), part<Content>(kv));
    const auto weights = softmax<key_position>(detail::all_changes(scaled<summed<Content, Rot>>(content + contract<Rot>(turned, there.key)), how...));
    return tensor(output.formula(contract<key_position>(weights, part<V>(kv))));
  }
};

}  // namespace dimwise::nn
