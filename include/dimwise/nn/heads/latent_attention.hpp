// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/heads/latent_attention.hpp -- multi-head latent attention: keys and values from one latent vector per
// position.
//
// Layer: nn. DeepSeek-AI 2024, section 2.1.
// Tests: tests/nn/layers.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/heads/multi_head.hpp>

namespace dimwise::nn {

/// Multi-head latent attention: a cache holds one latent vector and one rotated key per position for all heads.
///
///   (x, there, how…):  [Q, Model, rest] x [K, Model, rest]  ->  [rest, Q, Model]
///
/// Content are the query and key features without positions, Rot the features that rotary turns, V the features of the
/// values, Latent the compressed features. Scores are scaled by 1/√(|Content| + |Rot|). `how` changes scores as in
/// `attention`. Rejects inputs without Model, queries and keys with the same positions, and rejected changes of scores.
template <class Model = argument::nothing, class Heads = argument::nothing, class Content = argument::nothing,
          class Rot = argument::nothing, class V = argument::nothing, class Latent = argument::nothing, class T = float>
struct latent_attention {
  using role = argument::attention;
  using query_layer = linear<from<Model>, to<Heads, summed<Content, Rot>>, no_bias, T>;
  using compress_layer = linear<from<Model>, to<summed<Latent, Rot>>, no_bias, T>;
  using expand_layer = linear<from<Latent>, to<Heads, summed<Content, V>>, no_bias, T>;
  using output_layer = linear<from<Heads, V>, to<Model>, no_bias, T>;
  using latent_norm = rms_norm<Latent, elements<detail::activations_t<T>>>;
  using content = Content;
  using latent = Latent;

  query_layer query{};
  compress_layer compress{};
  latent_norm norm{};
  expand_layer expand{};
  output_layer output{};
  rotary_options rotation{};
  using members = member_list<&latent_attention::query, &latent_attention::compress, &latent_attention::norm,
                              &latent_attention::expand, &latent_attention::output, &latent_attention::rotation>;

  /// A compressed position: [Model, rest] -> `latent` [rest, Latent], normalised, and `key` [rest, Rot], rotated.
  /// Rejects operands without Model, and operands without exactly one position dimension.
  template <class L, class R>
  struct compressed_position {
    L latent;
    R key;
  };
  template <detail::input X>
  auto compressed_formula(const X& x) const {
    using namespace detail::functions;
    const auto both = stored(compress.formula(x));
    const auto position = [](const auto& vectors, const auto&, const auto& key) {
      return compressed_position<std::remove_cvref_t<decltype(vectors)>, std::remove_cvref_t<decltype(key)>>{vectors,
                                                                                                             key};
    };
    return detail::attempt(position, stored(norm.formula(part<Latent>(both))), at_positions(x),
                           stored(rotated_at<detail::positions_of_t<X>, Rot>(part<Rot>(both), rotation)));
  }
  /// The compressed vectors and shared rotated keys of positions, which a cache stores.
  DIMWISE_DETAIL_CALL(latent_attention, compressed, compressed_formula);

  template <detail::input XQ, detail::input XK, class... How>
  auto formula(const XQ& x, const XK& there, const How&... how) const {
    return detail::attempt([&](const auto& positions) { return attend_formula(x, positions, how...); },
                           compressed_formula(there));
  }
  DIMWISE_DETAIL_CALL(latent_attention, operator(), formula);

  template <detail::input XQ, class L, class R, class... How>
  auto attend_formula(const XQ& x, const compressed_position<L, R>& there, const How&... how) const {
    using namespace detail::functions;
    using positions = detail::positions_of_t<L>;
    const auto q = stored(query.formula(at_positions(x)));
    const auto kv = stored(expand.formula(at_positions(there.latent)));
    const auto turned = stored(rotated_at<detail::positions_of_t<XQ>, Rot>(part<Rot>(q), rotation));
    const auto products =
        plus(contract<Content>(part<Content>(q), part<Content>(kv)), contract<Rot>(turned, there.key));
    const auto weights = softmax<positions>(all_changes(scaled<summed<Content, Rot>>(products), how...));
    return output.formula(contract<positions>(weights, part<V>(kv)));
  }
  /// Attention over positions that are already compressed.
  DIMWISE_DETAIL_CALL(latent_attention, attend, attend_formula);
};

template <class Model, class Heads, class Content, class Rot, class V, class Latent, class T>
DIMWISE_DETAIL_TAKES(latent_attention, (Model, Heads, Content, Rot, V, Latent, T), detail::features<Model>,
                     detail::heads<Heads>, detail::features<Content, Rot, V, Latent>, detail::weight_element<T>,
                     detail::once<Content, Rot, Latent>, detail::once<Content, V, Latent>) {
  using latent_attention::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename latent_attention::error>) > 0);
};

}  // namespace dimwise::nn
