// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/attention/block_gradients.hpp -- the record of a ring attention, and the gradients of one block of it.
//
// Layer: ranks. Included by ring_gradient.hpp.
// Tests: tests/ranks/attention/ring_gradient.test.cpp
#pragma once

#include <dimwise/eval/attention/gradient.hpp>
#include <dimwise/eval/attention/partial.hpp>
#include <dimwise/grad/operations/adjoint.hpp>
#include <dimwise/ranks/attention/ring_scores.hpp>
#include <dimwise/ranks/collectives.hpp>

#include <cmath>
#include <limits>

namespace dimwise::detail {

template <class X>
using ring_gradient_of = tensor_of<value_of<X>, make_shape_t<dims_t<shape_of<X>>, list<>>>;
template <class X>
ring_gradient_of<X> zero_gradient(const X& x) {
  auto zeros =
      ring_gradient_of<X>::for_overwriting(extents_from<shape_of<ring_gradient_of<X>>>("gradient", x.extents()));
  zeros.fill(0);
  return zeros;
}
template <class Tensor>
void add_elements(Tensor& to, const Tensor& more) {
  auto* const sums = to.overwrite();
  const auto* const terms = more.data();
  for (std::size_t i = 0; i < more.size(); ++i) { sums[i] += terms[i]; }
}

// The record of a result: the tracked formula, and the numbers that the backward pass reads.
template <class Key, class Result, bool Travels, class S, class V, class Q, class K, class Values, class Part>
struct kept_ring {
  using key = Key;
  using result = Result;
  using formula = ring_scores<Key, S>;
  using query_type = typename formula::query_type;
  using key_type = typename formula::key_type;
  static constexpr bool travels = Travels;
  static constexpr bool wants_q = is_tracked<query_type>;
  static constexpr bool wants_k = is_tracked<key_type>;
  static constexpr bool wants_v = is_tracked<V>;
  // A bias, or a factor of the scores: their gradients go straight to their records.
  static constexpr bool wants_others = formula::tracks_others;

  S scores;
  V given_values;
  Q q;
  K k;
  Values v;
  Part part;
  ranks::communicator along;
};
template <class Key, class Result, bool Travels, class S, class V, class... More>
inline constexpr bool holds_erased<kept_ring<Key, Result, Travels, S, V, More...>> = holds_erased<S> || holds_erased<V>;

// The gradients by one block: of the queries its term, of keys and values this rank's term.
template <class Q, class K, class V>
struct block_gradients {
  ring_gradient_of<Q> q;
  ring_gradient_of<K> k;
  ring_gradient_of<V> v;
};

// A value whose gradient arrives at a record of its own.
template <class X>
using tracked_leaf_t = tensor_of<tracked<value_of<X>>, shape_of<X>>;
template <bool Wanted, class X>
auto leaf_if(const X& x) {
  if constexpr (Wanted) {
    return recorded_leaf(x, 0, &of_one_statement);
  } else {
    return x;
  }
}
template <class Leaf, class To>
void take_arrived(const Leaf& leaf, To& to) {
  if (leaf.origin()->arrived()) { to = gradient_at(leaf); }
}

// The weight of a score, and the gradient of the score: 0 where the weight is 0, whatever arrives there.
struct weight_beside {
  template <class T>
  T operator()(T score, T log_sum) const {
    return log_sum == -std::numeric_limits<T>::infinity() ? T(0) : std::exp(score - log_sum);
  }
};
struct score_gradient {
  template <class T>
  T operator()(T weight, T d_weight, T mean) const {
    return weight == T(0) ? T(0) : weight * (d_weight - mean);
  }
};

// The axes along which the gradient of what is whole and met the keys is a term on each rank.
template <class Kept>
inline constexpr const axes_of_mesh* axes_of_terms = &axis_ids<unique_t<
    join_t<mesh_axes_of_shape_t<typename Kept::result>, list<first_t<mesh_axes_t<typename Kept::key>>>>>>::value;

// Sends the gradient of the scores to the leaves, and to what else they track.
template <class Kept, class Scores, class G>
void send_to_scores(const Scores& scores, const G& g) {
  if constexpr (Kept::wants_others) {
    const gradient_ranks::root from(axes_of_terms<Kept>);
    if constexpr (holds_erased<Kept>) {
      erased_gradients all;
      send_gradient(scores, g);
      all.send();
    } else {
      send_gradient(scores, g);
    }
  } else {
    send_gradient(scores, g);
  }
}

// In any element type and for every step that has an adjoint.
template <class Kept, class K, class V, class G, class Gradients>
void block_back_by_adjoints(const Kept& kept, const K& k, const V& v, const G& g, Gradients& to) {
  using key = typename Kept::key;
  using result = make_shape_t<dims_t<typename Kept::result>, list<>>;
  const auto q_leaf = leaf_if<Kept::wants_q>(kept.q);
  const auto k_leaf = leaf_if<Kept::wants_k>(k);
  const auto scores = Kept::formula::with(kept.scores, q_leaf, k_leaf);
  const auto log_sums = plain_value(kept.part.log_sum_exp);
  const tensor weights = by_element(weight_beside{}, tensor(plain_value(scores)), log_sums);
  const auto w_leaf = leaf_if<true>(weights);
  const auto v_leaf = leaf_if<true>(v);
  send_gradient(make_contraction<list<key>, list<>, accepted<result>>("gradient", w_leaf, v_leaf), g);
  if constexpr (Kept::wants_v) { take_arrived(v_leaf, to.v); }
  if constexpr (Kept::wants_q || Kept::wants_k || Kept::wants_others) {
    if (!w_leaf.origin()->arrived()) { return; }
    const auto products = by_element(fn::multiply{}, g, plain_value(kept.part.output));
    using features = difference_t<dims_t<shape_of<G>>, dims_t<shape_of<decltype(log_sums)>>>;
    const tensor means = summed_over<features>(products);
    send_to_scores<Kept>(scores, tensor(by_element(score_gradient{}, weights, gradient_at(w_leaf), means)));
    if constexpr (Kept::wants_q) { take_arrived(q_leaf, to.q); }
    if constexpr (Kept::wants_k) { take_arrived(k_leaf, to.k); }
  }
}

// By the kernel of attention; false, and nothing done, where it does not take the block.
template <class Kept, class K, class V, class G, class Gradients>
bool block_back_by_kernel([[maybe_unused]] const Kept& kept, [[maybe_unused]] const K& k, [[maybe_unused]] const V& v,
                          [[maybe_unused]] const G& g, [[maybe_unused]] Gradients& to) {
  if constexpr (Kept::wants_others) { return false; }  // which the kernel would not divide among blocks
  using plain_scores = untracked_type<decltype(kept.scores)>;
  using formula = ring_scores<typename Kept::key, plain_scores>;
  if constexpr (kernels::available) {
    using C = value_of<V>;
    const auto scores = formula::with(untracked_of(kept.scores), kept.q, k);
    const auto attended = attended_block<typename Kept::key, typename Kept::result>(scores, v);
    return with_record_of<C>(attended, [&](walk& w, const record<C>& r) {
      const auto read = [](const auto& x) { return named(x, const_cast<C*>(x.data())); };
      const auto wanted = [](auto& x, bool is_wanted) {
        return is_wanted ? named(x, x.overwrite()) : named_memory_of<C>();
      };
      attention_back<C> back;
      back.out = read(kept.part.output);
      back.sums = read(kept.part.log_sum_exp);
      back.g = named(g, g.data());
      back.d_q = wanted(to.q, Kept::wants_q);
      back.d_k = wanted(to.k, Kept::wants_k);
      back.d_v = wanted(to.v, Kept::wants_v);
      return attend_back(w, r, back);
    });
  } else {
    return false;
  }
}

template <class Kept, class K, class V, class G>
auto block_back(const Kept& kept, const K& k, const V& v, const G& g) {
  block_gradients<std::remove_cvref_t<decltype(kept.q)>, K, V> to{
      {},
      Kept::wants_k ? zero_gradient(k) : ring_gradient_of<K>(),
      Kept::wants_v ? zero_gradient(v) : ring_gradient_of<V>()};
  if constexpr (Kept::wants_q) { to.q = zero_gradient(kept.q); }
  if (size_of(v) == 0 || size_of(kept.q) == 0) { return to; }
  if (!block_back_by_kernel(kept, k, v, g, to)) { block_back_by_adjoints(kept, k, v, g, to); }
  return to;
}

}  // namespace dimwise::detail
