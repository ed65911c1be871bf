// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/heads/multi_head.hpp -- multi-head attention: input projections, attention per head, output projection.
//
// Layer: nn.
//
//   multi_head_attention<d_model, heads, d_k, d_v> attention;
//   tensor y = attention(x, memory, memory, padding<source>(lengths));      // queries, keys, values
//   self_attention<seq, key, decltype(attention)> own;                      // the same over one sequence
//
// Tests: tests/nn/multi_head.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/attention.hpp>
#include <dimwise/nn/heads/heads.hpp>
#include <dimwise/nn/heads/self_attention.hpp>
#include <dimwise/nn/layers/norm.hpp>
#include <dimwise/nn/parameters/rebind.hpp>

namespace dimwise::nn {

/// Multi-head attention (Vaswani et al. 2017, section 3.2.2): projects queries, keys and values, attends per head, and
/// projects the heads back with `output`.
///
///   (query, key, value, how…):    [Q, Model, rest] x [P, Model, rest] x [P, Model, rest]  ->  [rest, Q, Model]
///   weights(query, key, how…):    [Q, Model, rest] x [P, Model, rest]                     ->  [rest, heads, Q, P]
///
/// Heads is a heads dimension, `single_head`, `grouped_heads<kv_heads, group>` or `shared_keys<heads>`. Options, in any
/// order: `keys_from<F>`, `values_from<F>`, `no_bias`, `elements<double>`; one transformation of queries and keys,
/// `rotated_heads`, `normalised_heads<rms_norm<d_k>>`, `prepared_by<…>`; and extra keys, `bias_kv`, `zero_attn`,
/// `sinks`. `how` changes the scores of the input as in `attention`.
///
/// `weights` are evaluated; average them with `mean<heads>`. Learned and zero keys are appended to the others, so that
/// P grows, which rules out a static extent (R10). With extra keys or sinks the weights do not sum to 1 over the input,
/// so they carry no mark. Rejects inputs without their features, queries and keys with the same positions, and what
/// `attention` rejects.
///
/// With `elements<bfloat16>` and no extra keys, queries, keys, values and weights are also rounded to bfloat16.
template <class Model = argument::nothing, class Heads = argument::nothing, class K = argument::nothing,
          class V = argument::nothing, class... Options>
struct multi_head_attention {
  using role = argument::attention;
  using options = detail::head_options<Model, Options...>;
  using element = typename options::element;
  using activation = detail::activations_t<element>;
  using number = detail::untracked_t<activation>;
  using key_features = typename options::keys_from;
  using value_features = typename options::values_from;
  using preparation = typename options::preparation;
  using query_heads = detail::of_heads<typename detail::head_dims<Heads>::queries, options>;
  using key_heads = detail::of_heads<typename detail::head_dims<Heads>::keys, options>;
  using query_projection = typename query_heads::template projection<Model, K>;
  using key_projection = typename key_heads::template projection<key_features, K>;
  using value_projection = typename key_heads::template projection<value_features, V>;
  using output_projection = typename query_heads::template back<Model, V>;
  using key_vector = typename key_heads::template vector_if<options::learned_key, K>;
  using value_vector = typename key_heads::template vector_if<options::learned_key, V>;
  using sink_vector = typename query_heads::template vector_if<options::sink>;

  query_projection query{};
  key_projection key{};
  value_projection value{};
  output_projection output{};
  preparation prepare{};
  key_vector bias_k{};
  value_vector bias_v{};
  sink_vector sink{};
  using members =
      member_list<&multi_head_attention::query, &multi_head_attention::key, &multi_head_attention::value,
                  &multi_head_attention::output, &multi_head_attention::prepare, &multi_head_attention::bias_k,
                  &multi_head_attention::bias_v, &multi_head_attention::sink>;

  template <detail::input XQ, detail::input XK, detail::input XV, class... How>
  auto formula(const XQ& queries, const XK& keys, const XV& values, const How&... how) const {
    using namespace detail::functions;
    using positions = detail::positions_of_t<XK>;
    const auto k = keys_formula(keys);
    if constexpr (options::more_keys) {
      const auto q = stored(queries_formula(queries));
      const auto part = part_of_attention<positions>(changed_scores<K>(q, k, how...), value.formula(values));
      return output.formula(output_of(beside_extra_keys(part, q, how...)));
    } else {
      return output.formula(kept_for_gradient(nn::detail::functions::attention<K, positions>(
          queries_formula(queries), k, in_products(kept_for_gradient(value.formula(values))), how...)));
    }
  }
  DIMWISE_DETAIL_CALL(multi_head_attention, operator(), formula);

  template <detail::input XQ, detail::input XK, class... How>
  auto weights_formula(const XQ& queries, const XK& keys, const How&... how) const {
    using namespace detail::functions;
    using positions = detail::positions_of_t<XK>;
    const auto k = keys_formula(keys);
    if constexpr (options::more_keys) {
      const auto q = stored(queries_formula(queries));
      const auto s = changed_scores<K>(q, k, how...);
      const auto beside = [&](const auto& scores, const auto& weights) {
        return weights_beside_extra_keys<positions>(scores, weights, q, how...);
      };
      return detail::attempt(beside, s, softmax<positions>(s));
    } else {
      return nn::detail::functions::attention_weights<K, positions>(queries_formula(queries), k, how...);
    }
  }
  /// The attention weights: the softmax of the scores.
  DIMWISE_DETAIL_CALL(multi_head_attention, weights, weights_formula);

 private:
  // Rounds x if the weights have a 16-bit type with product kernels, so that attention uses these kernels as well.
  template <class X>
  static auto in_products(const X& x) {
    if constexpr (options::more_keys) {
      return x;
    } else {
      return detail::functions::multiplied_as<element>(x);
    }
  }
  template <class X>
  auto queries_formula(const X& x) const {
    using namespace detail::functions;
    return in_products(
        kept_for_gradient(prepare.template queries<detail::positions_of_t<X>, K>(kept_for_gradient(query.formula(x)))));
  }
  template <class X>
  auto keys_formula(const X& x) const {
    using namespace detail::functions;
    return in_products(kept_for_gradient(
        prepare.template keys<detail::positions_of_t<X>, K>(kept_for_gradient(key.formula(at_positions(x))))));
  }
  // One key without positions: a product with the scale of the other scores.
  template <class Q, class... How>
  auto learned_logit(const Q& q, const How&... how) const {
    return contract<K>(plain(q), bias_k) * static_cast<number>(detail::scale_of(extent_of<K>(q), how...));
  }
  template <class Part, class Q, class... How>
  auto beside_extra_keys(const Part& given, const Q& queries, const How&... how) const {
    const auto all = [&](auto part, const auto& q) {
      using detail::functions::beside;
      if constexpr (options::learned_key) { part = beside(part, learned_logit(q, how...), bias_v); }
      if constexpr (options::zero_key) { part = beside(part, tensor<activation>()); }
      if constexpr (options::sink) { part = beside(part, sink); }
      return part;
    };
    return detail::attempt(all, given, queries);
  }
  template <class P, class S, class W, class Q, class... How>
  auto weights_beside_extra_keys(const S& s, const W& weights, const Q& q, const How&... how) const {
    const tensor own = plain(logsumexp<P>(s));
    const auto logit = [&](const auto& l) { return std::remove_const_t<decltype(own)>(broadcast_like(l, own)); };
    auto all = own;
    const auto add = [&](const auto& l) { all = map(detail::sum_of_logs{}, all, logit(l)); };
    if constexpr (options::learned_key) { add(learned_logit(q, how...)); }
    if constexpr (options::zero_key) { add(tensor<activation>()); }
    if constexpr (options::sink) { add(sink); }
    tensor given = plain(weights) * exp(own - all);
    using grown = decltype(detail::functions::concat<P>(given, given));
    if constexpr (detail::is_refusal<grown> && (options::learned_key || options::zero_key)) {
      return grown();
    } else {
      const auto append = [&](const auto& l) { given = concat<P>(given, broadcast<P>(exp(logit(l) - all), P{1})); };
      if constexpr (options::learned_key) { append(learned_logit(q, how...)); }
      if constexpr (options::zero_key) { append(tensor<activation>()); }
      return given;
    }
  }
};

template <class Model, class Heads, class K, class V, class... Options>
DIMWISE_DETAIL_TAKES(multi_head_attention, (Model, Heads, K, V, Options...), detail::features<Model>,
                     detail::heads_of<Heads>, detail::features<K, V>, detail::options<Options...>,
                     detail::preparations<Options...>, detail::options_once<Options...>, detail::heads_once<Heads>) {
  using multi_head_attention::refused_module::refused_module;
  static_assert(sizeof(detail::report<typename multi_head_attention::error>) > 0);
};

}  // namespace dimwise::nn

// The element type is one of the options.
template <class To, class Model, class Heads, class K, class V, class... Options>
  requires(!dimwise::detail::rejected_type<dimwise::nn::multi_head_attention<Model, Heads, K, V, Options...>>)
struct dimwise::detail::rebound<To, dimwise::nn::multi_head_attention<Model, Heads, K, V, Options...>> {
  template <class... Other>
  static auto with(list<Other...>) -> nn::multi_head_attention<Model, Heads, K, V, nn::elements<To>, Other...>;
  using type = decltype(with(join_t<list<>, list_if<!nn::detail::is_same_option<Options, nn::elements<To>>,
                                                    typename rebound_argument<To, Options>::type>...>{}));
};
