// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/multi_head.hpp -- multi-head attention: projections, attention by head, and the projection back.
//
// Layer: nn.
//
//   multi_head_attention<d_model, heads, d_k, d_v> attention;
//   tensor y = attention(x, memory, memory, padding<source>(lengths));      // queries, keys, values
//   self_attention<seq, key, decltype(attention)> own;                      // the same over one sequence
//
// Tests: tests/nn/multi_head.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/expr/join.hpp>
#include <dimwise/expr/restride.hpp>
#include <dimwise/nn/attention.hpp>
#include <dimwise/nn/norm.hpp>

namespace dimwise::nn {

/// In place of a heads dimension: one head; heads whose keys and values are shared by groups of queries (Ainslie et al.
/// 2023); heads that all share one key and value (Shazeer 2019).
struct single_head;
template <class KeyHeads, class Group>
struct grouped_heads;
template <class Heads>
struct shared_keys;

/// Keys or values that are projected from features of their own.
template <class F>
struct keys_from;
template <class F>
struct values_from;
/// Elements of another type than float.
template <class T>
struct elements;

namespace detail {

// Rotary at the positions P, as an outcome; of what has none, or several, it is refused.
template <class P, class F>
struct turned_at {
  template <class X>
  using step = decltype(rotary<P, F>(some<X>()));
};
template <class F>
struct turned_at<nothing, F> {
  template <class X>
  using step =
      ERROR_R9_rotary_takes_positions_and_the_features_of_a_head<op::rotary, over<about_t<F>>, operand_t<shape_of<X>>>;
};

}  // namespace detail

/// What is done to queries and keys before they meet: nothing; a norm over the features of a head (QK-norm, Henry et al.
/// 2020); rotary positions; or one after the other. P are the positions, F the features of a head.
struct as_projected {
  template <class P, class F, class X>
  using outcome = X;
  template <class P, class F, class X>
  auto queries(const X& x) const {
    return x;
  }
  template <class P, class F, class X>
  auto keys(const X& x) const {
    return x;
  }
};
template <class Norm>
struct normalised_heads {
  template <class P, class F, class X>
  using outcome = typename Norm::template outcome<X>;
  BOOST_HANA_DEFINE_STRUCT(normalised_heads, (Norm, query), (Norm, key));
  template <class P, class F, class X>
  auto queries(const X& x) const {
    return query.formula(x);
  }
  template <class P, class F, class X>
  auto keys(const X& x) const {
    return key.formula(x);
  }
};
struct rotated_heads {
  rotary_options options = {};
  template <class P, class F, class X>
  using outcome = typename detail::turned_at<P, F>::template step<X>;
  template <class P, class F, class X>
  auto queries(const X& x) const {
    return rotary<P, F>(x, options);
  }
  template <class P, class F, class X>
  auto keys(const X& x) const {
    return rotary<P, F>(x, options);
  }
};
template <class First, class Then>
struct prepared_by {
  template <class P, class F>
  struct then_of {
    template <class X>
    using step = typename Then::template outcome<P, F, X>;
  };
  template <class P, class F, class X>
  using outcome = typename detail::after<then_of<P, F>::template step, typename First::template outcome<P, F, X>>::type;
  BOOST_HANA_DEFINE_STRUCT(prepared_by, (First, first), (Then, then));
  template <class P, class F, class X>
  auto queries(const X& x) const {
    return then.template queries<P, F>(first.template queries<P, F>(x));
  }
  template <class P, class F, class X>
  auto keys(const X& x) const {
    return then.template keys<P, F>(first.template keys<P, F>(x));
  }
};

/// Keys that are not in the input: a learned one with a learned value for each head; one whose logit and value are 0; a
/// learned logit for each head, whose value is 0 (a sink).
struct bias_kv;
struct zero_attn;
struct sinks;

namespace detail {

struct absent {};

template <class Heads>
struct head_dims {
  using queries = list<Heads>;
  using keys = list<Heads>;
};
template <>
struct head_dims<single_head> {
  using queries = list<>;
  using keys = list<>;
};
template <class KeyHeads, class Group>
struct head_dims<grouped_heads<KeyHeads, Group>> {
  using queries = list<KeyHeads, Group>;
  using keys = list<KeyHeads>;
};
template <class Heads>
struct head_dims<shared_keys<Heads>> {
  using queries = list<Heads>;
  using keys = list<>;
};

// The options of a module; of two of one kind the first counts.
template <class Default>
struct projection_options {
  using keys_from = Default;
  using values_from = Default;
  using bias = with_bias;
  using element = float;
  using preparation = as_projected;
  static constexpr bool learned_key = false;
  static constexpr bool zero_key = false;
  static constexpr bool sink = false;
};
template <class Rest, class Option>
struct with_option;
template <class Rest, class F>
struct with_option<Rest, nn::keys_from<F>> : Rest {
  using keys_from = F;
};
template <class Rest, class F>
struct with_option<Rest, nn::values_from<F>> : Rest {
  using values_from = F;
};
template <class Rest>
struct with_option<Rest, no_bias> : Rest {
  using bias = no_bias;
};
template <class Rest, class T>
struct with_option<Rest, elements<T>> : Rest {
  using element = T;
};
template <class Rest>
struct with_option<Rest, bias_kv> : Rest {
  static constexpr bool learned_key = true;
};
template <class Rest>
struct with_option<Rest, zero_attn> : Rest {
  static constexpr bool zero_key = true;
};
template <class Rest>
struct with_option<Rest, sinks> : Rest {
  static constexpr bool sink = true;
};
template <class Rest>
struct with_option<Rest, rotated_heads> : Rest {
  using preparation = rotated_heads;
};
template <class Rest, class Norm>
struct with_option<Rest, normalised_heads<Norm>> : Rest {
  using preparation = normalised_heads<Norm>;
};
template <class Rest, class First, class Then>
struct with_option<Rest, prepared_by<First, Then>> : Rest {
  using preparation = prepared_by<First, Then>;
};
template <class Rest, class... Options>
struct with_options {
  using type = Rest;
};
template <class Rest, class First, class... More>
struct with_options<Rest, First, More...> : with_options<with_option<Rest, First>, More...> {};

template <class From, class Heads, class F, class Options>
struct projection;
template <class T, class Heads>
struct number_by_head;
template <class T, class... H>
struct number_by_head<T, list<H...>> {
  using type = tensor<T, H...>;
};
template <class From, class... H, class F, class Options>
struct projection<From, list<H...>, F, Options> {
  using by_head = tensor<typename Options::element, H..., F>;
  using type = linear<from<From>, to<H..., F>, typename Options::bias, typename Options::element>;
  using back = linear<from<H..., F>, to<From>, typename Options::bias, typename Options::element>;
};

// The dimension of positions in X, which is one; else its error.
template <class X, class Positions = typename detail::where<dims_t<shape_of<X>>>::positions>
struct positions_of {
  using error =
      ERROR_R16_query_key_and_value_are_told_apart_by_dimensions<op::scores, over_t<Positions>, operand_t<shape_of<X>>>;
  using type = nothing;
};
template <class X, class P>
struct positions_of<X, list<P>> {
  using error = X;  // none
  using type = P;
};
template <class X>
using positions_of_t = typename positions_of<X>::type;

template <class Prepare, class P, class F>
struct prepared {
  template <class X>
  using step = typename Prepare::template outcome<P, F, X>;
};
template <class F, class Key, class... How>
struct weights_of {
  template <class Q, class K>
  using step = weights_outcome<F, Key, Q, K, How...>;
};
// Stored weights with one more key behind the others.
template <class Key>
struct grown_along {
  template <class W>
  using step = decltype(concat<Key>(tensor(plain(some<W>())), tensor(plain(some<W>()))));
};

}  // namespace detail

/// Attention with heads (Vaswani et al. 2017, section 3.2.2): queries, keys and values are projected, each head attends,
/// and `output` brings all heads back.
///
///   (query, key, value, how…):  [Q, Model, rest] x [K, Model, rest] x [K, Model, rest]  ->  [rest, Q, Model]
///
/// Heads is a heads dimension, `single_head`, `grouped_heads<kv_heads, group>` or `shared_keys<heads>`. Options, in any
/// order: `keys_from<F>`, `values_from<F>`, `no_bias`, `elements<double>`; one of what prepares queries and keys,
/// `rotated_heads`, `normalised_heads<rms_norm<d_k>>`, `prepared_by<…>`; and what is attended besides the input, `bias_kv`,
/// `zero_attn`, `sinks`. `how` changes the scores of the input as in `attention`.
/// Refuses inputs without their features, queries and keys with the same positions, and what `attention` refuses.
template <class Model, class Heads, class K, class V, class... Options>
struct multi_head_attention {
  using options = typename detail::with_options<detail::projection_options<Model>, Options...>::type;
  using head_dims = detail::head_dims<Heads>;
  using key_features = typename options::keys_from;
  using value_features = typename options::values_from;
  using query_projection = typename detail::projection<Model, typename head_dims::queries, K, options>::type;
  using key_projection = typename detail::projection<key_features, typename head_dims::keys, K, options>::type;
  using value_projection = typename detail::projection<value_features, typename head_dims::keys, V, options>::type;
  using output_projection = typename detail::projection<Model, typename head_dims::queries, V, options>::back;
  using preparation = typename options::preparation;

  using key_vector =
      std::conditional_t<options::learned_key,
                         typename detail::projection<Model, typename head_dims::keys, K, options>::by_head,
                         detail::absent>;
  using value_vector =
      std::conditional_t<options::learned_key,
                         typename detail::projection<Model, typename head_dims::keys, V, options>::by_head,
                         detail::absent>;
  using sink_vector =
      std::conditional_t<options::sink,
                         typename detail::number_by_head<typename options::element, typename head_dims::queries>::type,
                         detail::absent>;

  BOOST_HANA_DEFINE_STRUCT(multi_head_attention, (query_projection, query), (key_projection, key),
                           (value_projection, value), (output_projection, output), (preparation, prepare),
                           (key_vector, bias_k), (value_vector, bias_v), (sink_vector, sink));

  template <class X, class Projection>
  using prepared = typename detail::after<detail::prepared<preparation, detail::positions_of_t<X>, K>::template step,
                                          typename Projection::template outcome<X>>::type;
  // What a call does to types: each step an outcome, of which the first error is the call's.
  template <class XQ, class XK, class... How>
  struct weights_steps {
    using positions = detail::positions_of_t<XK>;
    using q = prepared<XQ, query_projection>;
    using k = detail::last_of_t<typename detail::positions_of<XK>::error, prepared<XK, key_projection>>;
    using weights = typename detail::after_both<detail::weights_of<K, positions, How...>::template step, q, k>::type;
  };
  // The same of `weights`, which stores them: a key more needs an extent of the run.
  template <operand XQ, operand XK, class... How>
  struct checked_weights {
    using steps = weights_steps<XQ, XK, How...>;
    using stored = std::conditional_t<
        options::learned_key || options::zero_key,
        detail::after<detail::grown_along<typename steps::positions>::template step, typename steps::weights>,
        std::type_identity<typename steps::weights>>;
    using type = typename detail::verdict_of<typename stored::type>::type;
  };
  template <operand XQ, operand XK, operand XV, class... How>
  struct checked {
    using to_weights = weights_steps<XQ, XK, How...>;
    using v = typename value_projection::template outcome<XV>;
    using heads = typename detail::after_both<detail::values_over<typename to_weights::positions>::template step,
                                              typename to_weights::weights, v>::type;
    using all = typename detail::after<output_projection::template outcome, heads>::type;
    using type = typename detail::verdict_of<all>::type;
  };

  template <operand XQ, operand XK, operand XV, class... How,
            class Verdict = typename checked<XQ, XK, XV, How...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const XQ& queries, const XK& keys, const XV& values, const How&... how) const {
    using positions = detail::positions_of_t<XK>;
    const auto q = queries_formula(queries);
    const auto k = keys_formula(keys);
    if constexpr (options::learned_key || options::zero_key || options::sink) {
      const tensor stored = q;
      const auto scores = detail::changed_scores<K>(stored, k, how...);
      return tensor(output.formula(
          beside_extra_keys(detail::part_of_attention<positions>(scores, value.formula(values)), stored, how...)
              .output));
    } else {
      return tensor(
          output.formula(contract<positions>(attention_weights<K, positions>(q, k, how...), value.formula(values))));
    }
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);

  /// The weights of every head, stored: [rest, heads, Q, K]; `mean<heads>` averages them. A learned and a zero key stand
  /// behind the others, so that K grows, which a static extent cannot (R10); then, and with sinks, the weights are plain
  /// numbers.
  template <operand XQ, operand XK, class... How, class Verdict = typename checked_weights<XQ, XK, How...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto weights(const XQ& queries, const XK& keys, const How&... how) const {
    using positions = detail::positions_of_t<XK>;
    const auto q = queries_formula(queries);
    const auto k = keys_formula(keys);
    if constexpr (options::learned_key || options::zero_key || options::sink) {
      return weights_beside_extra_keys<positions>(tensor(q), k, how...);
    } else {
      return tensor(attention_weights<K, positions>(q, k, how...));
    }
  }
  DIMWISE_DETAIL_REFUSED(weights, checked_weights);

 private:
  template <class X>
  auto queries_formula(const X& x) const {
    return prepare.template queries<detail::positions_of_t<X>, K>(query.formula(x));
  }
  template <class X>
  auto keys_formula(const X& x) const {
    return prepare.template keys<detail::positions_of_t<X>, K>(key.formula(x));
  }
  // One key and no positions: a product that is scaled as the others are.
  template <class Q, class... How>
  auto learned_logit(const Q& q, const How&... how) const {
    return contract<K>(plain(q), bias_k) *
           static_cast<typename options::element>(detail::scale_of(extent_of<K>(q), how...));
  }
  template <class Part, class Q, class... How>
  Part beside_extra_keys(Part part, const Q& q, const How&... how) const {
    if constexpr (options::learned_key) { part = detail::beside(part, learned_logit(q, how...), bias_v); }
    if constexpr (options::zero_key) { part = detail::beside(part, tensor<typename options::element>()); }
    if constexpr (options::sink) { part = detail::beside(part, sink); }
    return part;
  }
  template <class P, class Q, class XK, class... How>
  auto weights_beside_extra_keys(const Q& q, const XK& k, const How&... how) const {
    const auto s = detail::changed_scores<K>(q, k, how...);
    const tensor own = plain(logsumexp<P>(s));
    const auto logit = [&](const auto& l) { return std::remove_const_t<decltype(own)>(broadcast_like(l, own)); };
    auto all = own;
    if constexpr (options::learned_key) { all = map(detail::sum_of_logs{}, all, logit(learned_logit(q, how...))); }
    if constexpr (options::zero_key) {
      all = map(detail::sum_of_logs{}, all, logit(tensor<typename options::element>()));
    }
    if constexpr (options::sink) { all = map(detail::sum_of_logs{}, all, logit(sink)); }
    tensor given = plain(softmax<P>(s)) * exp(own - all);
    const auto append = [&](const auto& l) { given = concat<P>(given, broadcast<P>(exp(logit(l) - all), P{1})); };
    if constexpr (options::learned_key) { append(learned_logit(q, how...)); }
    if constexpr (options::zero_key) { append(tensor<typename options::element>()); }
    return given;
  }
};

/// Attention of a sequence to itself: Attention's queries stand at P, its keys and values at Key, a `prime` of P.
///
///   (x, how…):         [P, Model, rest]  ->  [rest, P, Model]
///   weights(x, how…):  the same          ->  [rest, heads, P, Key]
template <class P, class Key, class Attention>
struct self_attention : Attention {
  template <class X>
  using renamed = decltype(rename<P, Key>(detail::some<X>()));
  template <operand X, class... How>
  struct checked {
    using type = renamed<X>;
  };
  template <operand X, class... How>
    requires detail::computed<renamed<X>>
  struct checked<X, How...> {
    using type = typename Attention::template checked<X, renamed<X>, renamed<X>, How...>::type;
  };
  template <operand X, class... How>
  struct checked_weights {
    using type = renamed<X>;
  };
  template <operand X, class... How>
    requires detail::computed<renamed<X>>
  struct checked_weights<X, How...> : Attention::template checked_weights<X, renamed<X>, How...> {};

  template <operand X, class... How, class Verdict = typename checked<X, How...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const X& x, const How&... how) const {
    const auto& here = detail::computed_once(x);
    const auto there = rename<P, Key>(here);
    return Attention::operator()(here, there, there, how...);
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);

  template <operand X, class... How, class Verdict = typename checked_weights<X, How...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto weights(const X& x, const How&... how) const {
    const auto& here = detail::computed_once(x);
    return Attention::weights(here, rename<P, Key>(here), how...);
  }
  DIMWISE_DETAIL_REFUSED(weights, checked_weights);
};

/// Attention of one sequence to another, the memory: queries stand at P, keys and values at the positions Memory of theirs.
///
///   (x, memory, how…):         [P, Model, rest] x [Memory, Model, rest]  ->  [rest, P, Model]
///   weights(x, memory, how…):  the same                                  ->  [rest, heads, P, Memory]
template <class P, class Memory, class Attention>
struct cross_attention : Attention {
  // What lacks the positions that the type names is refused before anything else.
  template <operand X, operand M, class... How>
  struct checked : detail::verdict_of<detail::has<P, X>, detail::has<Memory, M>,
                                      typename Attention::template checked<X, M, M, How...>::type> {};

  template <operand X, operand M, class... How>
  struct checked_weights : detail::verdict_of<detail::has<P, X>, detail::has<Memory, M>,
                                              typename Attention::template checked_weights<X, M, How...>::type> {};

  template <operand X, operand M, class... How, class Verdict = typename checked<X, M, How...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto operator()(const X& x, const M& memory, const How&... how) const {
    const auto& there = detail::computed_once(memory);
    return Attention::operator()(x, there, there, how...);
  }
  DIMWISE_DETAIL_REFUSED(operator(), checked);

  template <operand X, operand M, class... How, class Verdict = typename checked_weights<X, M, How...>::type>
    requires allowed<Verdict>
  [[nodiscard]] auto weights(const X& x, const M& memory, const How&... how) const {
    return Attention::weights(x, memory, how...);
  }
  DIMWISE_DETAIL_REFUSED(weights, checked_weights);
};

}  // namespace dimwise::nn
