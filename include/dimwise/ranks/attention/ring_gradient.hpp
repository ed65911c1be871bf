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

#include <dimwise/grad/record/erased.hpp>
#include <dimwise/ranks/attention/block_gradients.hpp>
#include <dimwise/ranks/ring_attention.hpp>

#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace dimwise::detail {

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

// A whole operand that met the keys has one term of its gradient on each rank, even if the queries are whole.
template <class Kept, class G>
void send_round_the_ring(const Kept& kept, const G& g) {
  using M = first_t<mesh_axes_t<typename Kept::key>>;
  const auto gradients = ranks::detail::taking_part(kept.along, "the gradient of ring_attention", [&] {
    if constexpr (Kept::travels) {
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

template <class Kept>
struct sent_round_the_ring {
  Kept kept;

  template <class Arrived>
  void send(Arrived& arrived) const {
    const auto g = arrived.taken();
    send_as_statement(arrived.mesh(), holds_erased<Kept>, [&] { send_round_the_ring(kept, g); });
  }
};

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
  return recorded_by_own(part.output, *record, sent_round_the_ring<kept_type>{{s, v, q, k, values, part, along}});
}

}  // namespace dimwise::detail
