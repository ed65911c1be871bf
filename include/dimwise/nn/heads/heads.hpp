// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/heads/heads.hpp -- the options of multi-head attention: head layouts, and transformations of queries and
// keys.
//
// Layer: nn.
// Tests: tests/nn/multi_head.test.cpp
#pragma once

#include <dimwise/nn/layers/kinds.hpp>
#include <dimwise/nn/layers/linear.hpp>

namespace dimwise::nn {

/// Alternatives to a heads dimension: one head; grouped-query heads (Ainslie et al. 2023); multi-query heads, which all
/// share one key and value (Shazeer 2019).
struct single_head;
template <class KeyHeads, class Group>
struct grouped_heads;
template <class Heads>
struct shared_keys;

/// Projects keys or values from other features than the queries.
template <class F>
struct keys_from;
template <class F>
struct values_from;
/// Extra keys that are not in the input: a learned key and value per head; a key with logit 0 and value 0; a learned
/// logit per head with value 0 (a sink).
struct bias_kv;
struct zero_attn;
struct sinks;

namespace detail {

// The only position dimension of X; `nothing` if X has none or several.
template <class Positions>
struct only_position {
  using type = nothing;
};
template <class P>
struct only_position<list<P>> {
  using type = P;
};
template <class X>
struct positions_of : only_position<typename detail::positions_in<dims_t<shape_of<X>>>::type> {};
template <class Refusal>
  requires is_refusal<Refusal>
struct positions_of<Refusal> : only_position<list<>> {};
template <class X>
using positions_of_t = typename positions_of<X>::type;

namespace functions {

/// x, which must have exactly one position dimension (R16).
template <class X>
decltype(auto) at_positions(const X& x) {
  if constexpr (is_refusal<X>) {
    return (x);
  } else if constexpr (std::is_same_v<positions_of_t<X>, nothing>) {
    return refusal<ERROR_R16_query_key_and_value_are_told_apart_by_dimensions<
        op::scores, over_t<typename detail::positions_in<dims_t<shape_of<X>>>::type>, operand_t<shape_of<X>>>>();
  } else {
    return (x);
  }
}

/// x rotated at the positions P; rejects `nothing` as P, which means none or several position dimensions (R9).
template <class P, class F, class X>
auto rotated_at(const X& x, const rotary_options& options) {
  if constexpr (is_refusal<X>) {
    return x;
  } else if constexpr (std::is_same_v<P, nothing>) {
    return refusal<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head<op::rotary, over<about_t<F>>,
                                                                              operand_t<shape_of<X>>>>();
  } else {
    return rotary<P, F>(x, options);
  }
}

}  // namespace functions
}  // namespace detail

/// Transformations of queries and keys before the scores: none; a norm over the features of a head (QK-norm, Henry et
/// al. 2020); rotary positions; or a sequence of these. P are the positions, F the features of a head.
struct as_projected {
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
  Norm query{};
  Norm key{};
  using members = member_list<&normalised_heads::query, &normalised_heads::key>;
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
  auto queries(const X& x) const {
    return detail::functions::rotated_at<P, F>(x, options);
  }
  template <class P, class F, class X>
  auto keys(const X& x) const {
    return queries<P, F>(x);
  }
};
template <class First, class Then>
struct prepared_by {
  First first{};
  Then then{};
  using members = member_list<&prepared_by::first, &prepared_by::then>;
  template <class P, class F, class X>
  auto queries(const X& x) const {
    return then.template queries<P, F>(first.template queries<P, F>(x));
  }
  template <class P, class F, class X>
  auto keys(const X& x) const {
    return then.template keys<P, F>(first.template keys<P, F>(x));
  }
};

namespace detail {

template <class X>
inline constexpr bool is_preparation = is_in<X, list<as_projected, rotated_heads>>;
template <class Norm>
inline constexpr bool is_preparation<normalised_heads<Norm>> = has_formula<Norm>;
template <class First, class Then>
inline constexpr bool is_preparation<prepared_by<First, Then>> = is_preparation<First> && is_preparation<Then>;

// The argument X of the Option<X> in the list.
template <template <class> class Option, class Default, class... Given>
struct option_or {
  using type = Default;
};
template <template <class> class Option, class Default, class First, class... Rest>
struct option_or<Option, Default, First, Rest...> : option_or<Option, Default, Rest...> {};
template <template <class> class Option, class Default, class X, class... Rest>
struct option_or<Option, Default, Option<X>, Rest...> {
  using type = X;
};

template <class Option>
inline constexpr bool is_option = is_preparation<Option> || is_in<Option, list<no_bias, bias_kv, zero_attn, sinks>>;
template <class F>
inline constexpr bool is_option<keys_from<F>> = is_of_kind<F, ability::feature>;
template <class F>
inline constexpr bool is_option<values_from<F>> = is_of_kind<F, ability::feature>;
template <class T>
inline constexpr bool is_option<elements<T>> = is_number<T> || is_blocks<T>;

template <class... Option>
using options = places<argument::option, list<Option...>, is_option<Option>...>;
// A second change of queries and keys would have no effect.
template <class... Option>
using preparations = places<argument::one_preparation, list<Option...>,
                            (!is_preparation<Option> || (0 + ... + is_preparation<Option>) == 1)...>;

// An option of each kind: a second one would have no effect.
template <class Option, class Other>
inline constexpr bool is_same_option = std::is_same_v<Option, Other>;
template <template <class> class Option, class X, class Y>
inline constexpr bool is_same_option<Option<X>, Option<Y>> = true;
template <class Option, class... All>
inline constexpr bool is_repeated = !is_preparation<Option> && (0 + ... + is_same_option<Option, All>) > 1;
template <class... Option>
using options_once = places<argument::one_of_each_option, list<Option...>, !is_repeated<Option, Option...>...>;

// The options of multi-head attention.
template <class Model, class... Given>
struct head_options {
  using keys_from = typename option_or<nn::keys_from, Model, Given...>::type;
  using values_from = typename option_or<nn::values_from, Model, Given...>::type;
  using element = typename option_or<elements, float, Given...>::type;
  using bias = std::conditional_t<is_in<no_bias, list<Given...>>, no_bias, with_bias>;
  using preparation = first_t<join_t<list_if<is_preparation<Given>, Given>..., list<as_projected>>>;
  static constexpr bool learned_key = is_in<bias_kv, list<Given...>>;
  static constexpr bool zero_key = is_in<zero_attn, list<Given...>>;
  static constexpr bool sink = is_in<sinks, list<Given...>>;
  static constexpr bool more_keys = learned_key || zero_key || sink;
};

// The heads of the queries and of the keys.
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

// The heads of a layout.
template <class Heads>
struct heads_in;
template <class... H>
struct heads_in<list<H...>> {
  using kinds = heads<H...>;
  using once = detail::once<H...>;
};
template <class Heads>
using heads_of = typename heads_in<typename head_dims<Heads>::queries>::kinds;
template <class Heads>
using heads_once = typename heads_in<typename head_dims<Heads>::queries>::once;

struct absent {};

// The parameter shapes of heads with F features each: a learned vector, the input projection, the output projection.
template <class Heads, class Options>
struct of_heads;
template <class... H, class Options>
struct of_heads<list<H...>, Options> {
  template <bool If, class... F>
  using vector_if =
      std::conditional_t<If, tensor<detail::activations_t<typename Options::element>, H..., F...>, absent>;
  template <class From, class F>
  using projection = linear<from<From>, to<H..., F>, typename Options::bias, typename Options::element>;
  template <class To, class F>
  using back = linear<from<H..., F>, to<To>, typename Options::bias, typename Options::element>;
};

}  // namespace detail
}  // namespace dimwise::nn
