// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/latent_attention.hpp -- attention whose keys and values come from one small vector a position.
//
// Layer: nn. Multi-head latent attention, DeepSeek-AI 2024, section 2.1.
// Tests: tests/nn/layers.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/multi_head.hpp>

namespace dimwise::nn {

namespace detail {

// The steps of latent attention, as outcomes.
template <class P>
struct part_of {
  template <class X>
  using step = decltype(part<P>(some<X>()));
};
template <class F>
struct products_over {
  template <class Q, class K>
  using step = decltype(contract<F>(some<Q>(), some<K>()));
};
template <class F>
struct scaled_over {
  template <class Products>
  using step = decltype(scaled<F>(some<Products>()));
};
template <class P, class X>
using part_outcome = typename after<part_of<P>::template step, X>::type;
template <class P, class F, class X>
using turned_outcome = typename after<turned_at<P, F>::template step, part_outcome<F, X>>::type;

}  // namespace detail

/// Multi-head latent attention: what a cache needs of a position is a latent vector and one rotated key for all heads.
///
///   (x, there, how…):  [Q, Model, rest] x [K, Model, rest]  ->  [rest, Q, Model]
///
/// Content are the features of queries and keys that carry no position, Rot those that rotary turns, V those of values,
/// Latent those that are compressed to. Scores are scaled by 1/√(|Content| + |Rot|). `how` changes scores as in `attention`.
/// Refuses inputs without Model, queries and keys that are not told apart by their positions, and what changes of scores refuse.
template <class Model, class Heads, class Content, class Rot, class V, class Latent, class T = float>
struct latent_attention {
  using query_layer = linear<from<Model>, to<Heads, summed<Content, Rot>>, no_bias, T>;
  using compress_layer = linear<from<Model>, to<summed<Latent, Rot>>, no_bias, T>;
  using expand_layer = linear<from<Latent>, to<Heads, summed<Content, V>>, no_bias, T>;
  using output_layer = linear<from<Heads, V>, to<Model>, no_bias, T>;
  using latent_norm = rms_norm<Latent>;
  using content = Content;
  using latent = Latent;

  BOOST_HANA_DEFINE_STRUCT(latent_attention, (query_layer, query), (compress_layer, compress), (latent_norm, norm),
                           (expand_layer, expand), (output_layer, output));
  rotary_options rotation = {};

  /// What stands for a position: [Model, rest] -> `latent` [rest, Latent], normed, and `key` [rest, Rot], rotated. Refuses
  /// what lacks Model, or has not one dimension of positions.
  template <class L, class R>
  struct compressed_position {
    L latent;
    R key;
  };
  template <operand X>
  struct checked_compressed {
    using both = detail::stored_outcome_t<typename compress_layer::template outcome<X>>;
    using normed = typename detail::after<latent_norm::template outcome, detail::part_outcome<Latent, both>>::type;
    using turned = detail::turned_outcome<detail::positions_of_t<X>, Rot, both>;
    using type = typename detail::verdict_of<both, typename detail::positions_of<X>::error, normed, turned>::type;
  };
  template <operand X, class Verdict = typename checked_compressed<X>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto compressed(const X& x) const {
    const tensor both = compress.formula(x);
    const tensor vectors = norm.formula(part<Latent>(both));
    const tensor key = rotary<detail::positions_of_t<X>, Rot>(part<Rot>(both), rotation);
    return compressed_position<std::remove_const_t<decltype(vectors)>, std::remove_const_t<decltype(key)>>{vectors,
                                                                                                           key};
  }
  DIMWISE_DETAIL_REFUSED(compressed, checked_compressed);

  // Queries XQ over latent vectors L and keys R.
  template <operand XQ, class There, class... How>
  struct checked_attend;
  template <operand XQ, class L, class R, class... How>
  struct checked_attend<XQ, compressed_position<L, R>, How...> {
    using P = detail::positions_of_t<L>;
    using q = detail::stored_outcome_t<
        detail::last_of_t<typename detail::positions_of<XQ>::error, typename query_layer::template outcome<XQ>>>;
    using kv = detail::stored_outcome_t<
        detail::last_of_t<typename detail::positions_of<L>::error, typename expand_layer::template outcome<L>>>;
    using contents =
        typename detail::after_both<detail::products_over<Content>::template step, detail::part_outcome<Content, q>,
                                    detail::part_outcome<Content, kv>>::type;
    using turned = typename detail::after_both<detail::products_over<Rot>::template step,
                                               detail::turned_outcome<detail::positions_of_t<XQ>, Rot, q>, R>::type;
    using products = typename detail::after_both<detail::added::step, contents, turned>::type;
    using scores = typename detail::after<detail::scaled_over<summed<Content, Rot>>::template step, products>::type;
    using weights = typename detail::after<detail::weights_over<P>::template step,
                                           typename detail::outcome_of_changes<scores, How...>::type>::type;
    using heads =
        typename detail::after_both<detail::values_over<P>::template step, weights, detail::part_outcome<V, kv>>::type;
    using type = typename detail::verdict_of<typename detail::after<output_layer::template outcome, heads>::type>::type;
  };
  // What comes in first; where that is right, what it becomes.
  template <operand XQ, operand XK, class... How>
  struct checked {
    using type = typename checked_compressed<XK>::type;
  };
  template <operand XQ, operand XK, class... How>
    requires allowed<typename checked_compressed<XK>::type>
  struct checked<XQ, XK, How...> {
    using there = checked_compressed<XK>;
    using type = typename checked_attend<XQ,
                                         compressed_position<detail::stored_outcome_t<typename there::normed>,
                                                             detail::stored_outcome_t<typename there::turned>>,
                                         How...>::type;
  };

  template <operand XQ, operand XK, class... How, class Verdict = typename checked<XQ, XK, How...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const XQ& x, const XK& there, const How&... how) const {
    return attend(x, compressed(there), how...);
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);

  /// The same over positions that were compressed before.
  template <operand XQ, class L, class R, class... How,
            class Verdict = typename checked_attend<XQ, compressed_position<L, R>, How...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto attend(const XQ& x, const compressed_position<L, R>& there, const How&... how) const {
    using key_position = detail::positions_of_t<L>;
    const tensor q = query.formula(x);
    const tensor kv = expand.formula(there.latent);
    const tensor turned = rotary<detail::positions_of_t<XQ>, Rot>(part<Rot>(q), rotation);
    const auto of_content = contract<Content>(part<Content>(q), part<Content>(kv));
    const auto weights = softmax<key_position>(
        detail::all_changes(scaled<summed<Content, Rot>>(of_content + contract<Rot>(turned, there.key)), how...));
    return tensor(output.formula(contract<key_position>(weights, part<V>(kv))));
  }
  DIMWISE_DETAIL_REFUSED(attend, checked_attend);
};

}  // namespace dimwise::nn
