// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/attention/ring_gradient.hpp -- ring attention of tracked operands, and its backward pass.
//
// Layer: ranks. Liu, Zaharia and Abbeel 2023: the gradient of the queries stays, those of keys and values travel with
// their block and add up on the way. The weights of a block are recomputed from the log-sum-exp of all blocks (Dao
// 2023, FlashAttention-2): weights = exp(s - lse), d_s = weights * (d_weights - sum(d_output * output)). Of what else
// the formula tracks, such as a bias, each block has a term, which is sent when the block is here.
// Included by ring_attention.hpp.
// Tests: tests/ranks/attention/ring_gradient.test.cpp
#pragma once

#include <dimwise/ranks/ring_attention.hpp>

#include <cmath>
#include <deque>

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
    return tracked_leaf_t<X>(x,
                             new_recorded<typename tracked_leaf_t<X>::origin_type>(std::uint64_t{0}, of_one_statement));
  } else {
    return x;
  }
}
template <class Leaf, class To>
void take_arrived(const Leaf& leaf, To& to) {
  if (leaf.origin()->arrived()) { to = leaf.origin()->gradient(); }
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
    send_to_scores<Kept>(scores, tensor(by_element(score_gradient{}, weights, w_leaf.origin()->gradient(), means)));
    if constexpr (Kept::wants_q) { take_arrived(q_leaf, to.q); }
    if constexpr (Kept::wants_k) { take_arrived(k_leaf, to.k); }
  }
}

// By the kernel of attention; false, and nothing done, where it does not take the block.
template <class Kept, class K, class V, class G, class Gradients>
bool block_back_by_kernel([[maybe_unused]] const Kept& kept, [[maybe_unused]] const K& k, [[maybe_unused]] const V& v,
                          [[maybe_unused]] const G& g, [[maybe_unused]] Gradients& to) {
#if !defined(DIMWISE_PLAIN_ONLY)
  if constexpr (Kept::wants_others) { return false; }  // the kernel has no gradient of a bias
  using plain_scores = untracked_type<decltype(kept.scores)>;
  using formula = ring_scores<typename Kept::key, plain_scores>;
  if constexpr (std::is_same_v<value_of<V>, float> && kernels::available) {
    const auto scores = formula::with(untracked_of(kept.scores), kept.q, k);
    const auto attended = attended_block<typename Kept::key, typename Kept::result>(scores, v);
    return with_record_of(attended, [&](walk& w, const record<float>& r) {
      const auto read = [](const auto& x) { return named(x, const_cast<float*>(x.data())); };
      const auto wanted = [](auto& x, bool is_wanted) { return is_wanted ? named(x, x.overwrite()) : named_memory(); };
      attention_back back;
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
#else
  return false;
#endif
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

// A gradient on its way round the ring: each rank adds its term, the owner of the block first. It is one step behind
// the block, so that it travels while the next block is computed.
template <bool Wanted, class X>
class ring_of_sums {
 public:
  using tensor_type = ring_gradient_of<X>;

  // Adds this rank's term, if there is one, to what has arrived for the block that is here, and sends it on. The term
  // of the rank's own block is taken.
  template <class Blocks>
  void add_and_send(const Blocks& blocks, const ranks::communicator& along, tensor_type* term) {
    if (blocks.is_own()) {
      here_.reset(new tensor_type(static_cast<tensor_type&&>(*term)));
    } else {
      wait();
      if (term != nullptr) { add_elements(*here_, *term); }
    }
    if (along.size() == 1) { return; }
    const tensor_type& now = *here_;
    there_.reset(new tensor_type(
        tensor_type::for_overwriting(extents_with_part<typename Blocks::key>(now.extents(), blocks.coming()))));
    sent_ = along.permute(now.data(), now.size(), blocks.next_rank(), there_->overwrite(), there_->size(),
                          blocks.previous_rank(), blocks.text());
  }
  // After the last step: the sum over all ranks, for this rank's own block.
  [[nodiscard]] const tensor_type& own(const ranks::communicator& along) {
    if (along.size() > 1) { wait(); }
    return *here_;
  }

 private:
  void wait() {
    sent_.wait();
    here_.swap(there_);
  }

  std::unique_ptr<tensor_type> here_{};
  std::unique_ptr<tensor_type> there_{};
  ranks::request sent_{};  // ends before them
};
template <class X>
class ring_of_sums<false, X> {
 public:
  template <class Blocks>
  void add_and_send(const Blocks&, const ranks::communicator&, ring_gradient_of<X>*) {}
  [[nodiscard]] static ring_gradient_of<X> own(const ranks::communicator&) { return {}; }
};

// The gradients of keys and values by messages.
template <class Kept, class K, class V>
class sent_sums {
 public:
  sent_sums(const ranks::communicator& along, const std::string&) : along_(along) {}
  // The terms of the block that is here; null if it is hidden.
  template <class Blocks, class Terms>
  void add(const Blocks& blocks, Terms* terms) {
    keys_.add_and_send(blocks, along_, terms == nullptr ? nullptr : &terms->k);
    values_.add_and_send(blocks, along_, terms == nullptr ? nullptr : &terms->v);
  }
  template <class Gradients>
  void finish(Gradients& own) {
    own.k = keys_.own(along_);
    own.v = values_.own(along_);
  }

 private:
  const ranks::communicator& along_;
  ring_of_sums<Kept::wants_k, K> keys_{};
  ring_of_sums<Kept::wants_v, V> values_{};
};

// The same between threads, which give the sums away without a copy. A rank that is ahead of the one before it keeps
// its terms and computes the next block: cores differ in speed, and a rank that waited would make all of them as slow
// as the slowest one in each step.
template <class Kept, class K, class V>
class handed_sums {
 public:
  handed_sums(const ranks::communicator& along, std::string text) : along_(along), text_(std::move(text)) {}
  template <class Blocks, class Terms>
  void add(const Blocks& blocks, Terms* terms) {
    next_ = blocks.next_rank();
    previous_ = blocks.previous_rank();
    terms_.push_back(terms == nullptr ? nullptr
                                      : std::make_shared<sums>(sums{std::move(terms->k), std::move(terms->v)}));
    hand_on(most_kept);
  }
  template <class Gradients>
  void finish(Gradients& own) {
    hand_on(0);
    coming_.wait();
    const auto sum = ranks::detail::shared_objects::taken<sums>(given_);
    own.k = sum->k;
    own.v = sum->v;
  }

 private:
  struct sums {
    ring_gradient_of<K> k;
    ring_gradient_of<V> v;
  };
  static constexpr std::size_t most_kept = 3;  // blocks, whatever the number of ranks

  // Adds terms to the sums that have come, and gives these to the next rank; waits while there are more terms than
  // `kept`.
  void hand_on(std::size_t kept) {
    for (; !terms_.empty(); terms_.pop_front()) {
      std::shared_ptr<sums> sum = std::move(terms_.front());
      if (has_begun_) {
        if (terms_.size() <= kept && !coming_.done()) {
          terms_.front() = std::move(sum);
          return;
        }
        coming_.wait();
        const std::shared_ptr<sums> term = std::move(sum);
        sum = ranks::detail::shared_objects::taken<sums>(given_);
        if (Kept::wants_k && term != nullptr) { add_elements(sum->k, term->k); }
        if (Kept::wants_v && term != nullptr) { add_elements(sum->v, term->v); }
      }
      has_begun_ = true;  // with the rank's own block
      coming_ = ranks::detail::shared_objects::hand_on(along_, std::move(sum), next_, given_, previous_, text_);
    }
  }

  const ranks::communicator& along_;
  std::string text_;
  std::size_t next_ = 0;
  std::size_t previous_ = 0;
  bool has_begun_ = false;
  std::deque<std::shared_ptr<sums>> terms_{};  // of this rank, for the next sums that come; null if there is none
  ranks::detail::shared_object given_{};
  ranks::request coming_{};  // ends before it
};

template <class Sums, class Kept, class Blocks, class G>
auto ring_back_by(const Kept& kept, Blocks& blocks, const G& g) {
  using formula = ring_scores<typename Kept::key, untracked_type<decltype(kept.scores)>>;
  Sums sums(kept.along, blocks.text());
  blocks.start();
  auto result = block_back(kept, blocks.keys(), blocks.values(), g);
  sums.add(blocks, &result);
  while (blocks.next()) {
    blocks.start();
    if (may_show_any<typename Kept::key>(formula::with(untracked_of(kept.scores), kept.q, blocks.keys()))) {
      auto block = block_back(kept, blocks.keys(), blocks.values(), g);
      if constexpr (Kept::wants_q) { add_elements(result.q, block.q); }
      sums.add(blocks, &block);
    } else {
      sums.add(blocks, static_cast<decltype(&result)>(nullptr));
    }
  }
  sums.finish(result);
  return result;
}
// Two threads: each computes the other's block first and gives its terms away. They have come when the other has
// computed its own block, unless its core is half as fast. Two terms have the same sum in either order.
template <class Kept, class Blocks, class G>
auto ring_back_of_two(const Kept& kept, Blocks& blocks, const G& g) {
  using formula = ring_scores<typename Kept::key, untracked_type<decltype(kept.scores)>>;
  using terms = std::remove_cvref_t<decltype(block_back(kept, blocks.keys(), blocks.values(), g))>;
  (void)blocks.next();
  std::shared_ptr<terms> given;  // null if the block is hidden
  ring_gradient_of<std::remove_cvref_t<decltype(kept.q)>> more_q;
  if (may_show_any<typename Kept::key>(formula::with(untracked_of(kept.scores), kept.q, blocks.keys()))) {
    given = std::make_shared<terms>(block_back(kept, blocks.keys(), blocks.values(), g));
    more_q = std::move(given->q);
  }
  const bool has_q = given != nullptr;
  ranks::detail::shared_object received;
  ranks::request coming = ranks::detail::shared_objects::hand_on(kept.along, std::move(given), blocks.next_rank(),
                                                                 received, blocks.previous_rank(), blocks.text());
  auto result = block_back(kept, kept.k, kept.v, g);
  if (Kept::wants_q && has_q) { add_elements(result.q, more_q); }
  coming.wait();
  const std::shared_ptr<terms> term = ranks::detail::shared_objects::taken<terms>(received);
  if (Kept::wants_k && term != nullptr) { add_elements(result.k, term->k); }
  if (Kept::wants_v && term != nullptr) { add_elements(result.v, term->v); }
  return result;
}
template <class Kept, class G>
auto ring_back(const Kept& kept, const G& g) {
  using K = std::remove_cvref_t<decltype(kept.k)>;
  using V = std::remove_cvref_t<decltype(kept.v)>;
  ring_of_blocks<typename Kept::key, K, V> blocks(kept.k, kept.v, kept.along);
  if constexpr (Kept::wants_k || Kept::wants_v) {
    const bool are_threads = ranks::detail::shared_objects::has(kept.along);
    if constexpr (!Kept::wants_others) {  // of which the terms are sent in the order of the ring
      if (are_threads && kept.along.size() == 2) { return ring_back_of_two(kept, blocks, g); }
    }
    if (are_threads) { return ring_back_by<handed_sums<Kept, K, V>>(kept, blocks, g); }
  }
  return ring_back_by<sent_sums<Kept, K, V>>(kept, blocks, g);
}

// Queries that are whole: each rank has a term of their gradient, and the gradients of its own keys. If the loss is a
// term on each rank, so is what arrives here.
template <class M, class Kept, class G>
auto back_of_whole_queries(const Kept& kept, G g) {
  const std::string text = call_text("ring_attention", dims_t<shape_of<decltype(kept.q)>>{}, kept.q.extents());
  const bool is_term = gradient_ranks::is_left(axis_id<M>);
  if (is_term) { kept.along.all_reduce(g.overwrite(), g.size(), text); }
  auto result = block_back(kept, kept.k, kept.v, g);
  if (Kept::wants_q && !is_term) { kept.along.all_reduce(result.q.overwrite(), result.q.size(), text); }
  return result;
}

// Called by `send_kept`. A whole operand that met the keys has one term of its gradient on each rank, even if the
// queries are whole.
template <class Key, class Result, bool Travels, class S, class V, class... More, class G>
void send_from(const kept_ring<Key, Result, Travels, S, V, More...>& kept, const G& g) {
  using Kept = kept_ring<Key, Result, Travels, S, V, More...>;
  using M = first_t<mesh_axes_t<Key>>;
  const auto gradients = ranks::detail::taking_part(kept.along, "the gradient of ring_attention", [&] {
    if constexpr (Travels) {
      return ring_back(kept, g);
    } else {
      return back_of_whole_queries<M>(kept, g);
    }
  });
  if constexpr (Kept::wants_q) { send_gradient(Kept::formula::queries(kept.scores), gradients.q); }
  const gradient_ranks::root from(axes_of_terms<Kept>);
  const auto send_keys = [&] {
    if constexpr (Kept::wants_k) { send_gradient(Kept::formula::keys(kept.scores), gradients.k); }
    if constexpr (Kept::wants_v) { send_gradient(kept.given_values, gradients.v); }
  };
  if constexpr (holds_erased<Kept>) {  // what arrives behind an `expr` is sent while `from` lives
    erased_gradients all;
    send_keys();
    all.send();
  } else {
    send_keys();
  }
}

// The attention of tracked operands, with its record.
template <class Key, class Result, bool Travels, class S, class V>
auto ring_recorded(const S& s, const V& v, const ranks::communicator& along) {
  const auto plain = untracked_of(s);
  using formula = ring_scores<Key, std::remove_cv_t<decltype(plain)>>;
  const tensor q(formula::queries(plain));
  const tensor k(formula::keys(plain));
  const tensor values(untracked_of(v));
  const auto part = [&] {
    if constexpr (Travels) {
      return attention_round_the_ring<Key, Result>(plain, q, k, values, along);
    } else {
      return merged_parts(part_of_block<Key, Result>(formula::with(plain, q, k), values), along);
    }
  }();
  using plain_result = std::remove_cvref_t<decltype(part.output)>;
  using tracked_result = tracked_leaf_t<plain_result>;
  remember_sum<first_t<mesh_axes_t<Key>>>(along);
  gradient_record* const record = gradient_record::current();
  const std::uint64_t number = record == nullptr ? 0 : record->number();
  const bool of_scores = has_origin(s, number), of_values = has_origin(v, number);
  if (!of_scores && !of_values) { return tracked_result(part.output); }
  using kept_type = kept_ring<Key, Result, Travels, S, V, std::remove_cv_t<decltype(q)>, std::remove_cv_t<decltype(k)>,
                              std::remove_cv_t<decltype(values)>, std::remove_cv_t<decltype(part)>>;
  using origin_type = typename tracked_result::origin_type;
  origin_pointer origin = new_recorded<origin_type>(number);
  origin->keep(new kept_type{s, v, q, k, values, part, along}, &send_kept<kept_type, origin_type>);
  record->add(origin);
  return tracked_result(part.output, origin);
}

}  // namespace dimwise::detail
