// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/ring_attention.hpp -- attention over keys and values that several ranks share.
//
// Layer: ranks. Liu, Zaharia and Abbeel 2023: the blocks of keys and values go around a ring of ranks; each rank
// computes the attention of its own queries over the block that it has while it sends it on. Threads read each other's
// blocks in the same order, and send none. Whole queries, as those of decoding, stay where they are, and so do the
// keys: the ranks exchange the parts of the output.
// attention/ring_gradient.hpp has the backward pass.
// Tests: tests/ranks/attention/ring_attention.test.cpp, tests/compile_fail/collectives/
//
//   using seq_here = shard<seq, sp>;
//   using key_here = shard<key, sp>;
//   tensor y = ring_attention<key_here>(masked(scores<d_k>(q, k), causal<seq_here, key_here>{}), v, grid);
#pragma once

#include <dimwise/eval/attention/partial.hpp>
#include <dimwise/grad/operations/adjoint.hpp>
#include <dimwise/ranks/attention/ring_scores.hpp>
#include <dimwise/ranks/collectives.hpp>
#include <dimwise/ranks/messages/shared_objects.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dimwise {

namespace detail {

// ---- the verdict ----------------------------------------------------------------------------------------------------

// Whether the queries are divided along M as well: then the blocks of keys travel.
template <class M, class Shape>
inline constexpr bool queries_are_divided = is_in<M, mesh_axes_of_list_t<dims_t<Shape>>>;

// The verdict on the call, after that of the rule. Blocks of other ranks take the place of the keys in the formula, so
// the formula holds the keys, and nothing else that has elements along them.
template <class Key, class Verdict, class S, class V, class Mesh>
consteval auto judge_ring_call() {
  using shown_s = lhs_t<shape_of<S>>;
  using shown_v = rhs_t<shape_of<V>>;
  if constexpr (refused<Verdict>) {
    return answer<Verdict>{};
  } else if constexpr (!Mesh::template has<first_t<mesh_axes_t<Key>>>) {
    return answer<ERROR_R25_mesh_has_no_such_axis<op::ring_attention, over<first_t<mesh_axes_t<Key>>>, Mesh>>{};
  } else {
    constexpr bool travels = queries_are_divided<first_t<mesh_axes_t<Key>>, typename Verdict::shape>;
    constexpr bool tracked = is_tracked<S> || is_tracked<V>;
    if constexpr (travels && !ring_scores<Key, untracked_type<S>>::matches) {
      return answer<ERROR_R24_operation_goes_over_a_shard<op::ring_attention, over<about_t<Key>>, shown_s, shown_v>>{};
    } else if constexpr (tracked && !ring_scores<Key, S>::matches) {
      return answer<ERROR_R21_operation_has_no_gradient<op::ring_attention, shown_s, shown_v>>{};
    } else {
      return answer<Verdict>{};
    }
  }
}
template <class Key, class S, class V, class Mesh>
using ring_verdict =
    typename decltype(judge_ring_call<Key, rule::ring_attention<Key, shape_of<S>, shape_of<V>>, S, V, Mesh>())::type;

// ---- blocks that travel ---------------------------------------------------------------------------------------------

template <class Keys, class Values>
struct key_block {
  Keys k;
  Values v;
  std::string text;  // of the call
};

// The extents of the same tensor with another rank's part of D.
template <class D, class Extents>
Extents extents_with_part(Extents e, const part_of_rank& part) {
  if constexpr (has_slot<D>) {
    e.template of_atom<D>() = {static_cast<extent_t>(part.extent), static_cast<std::ptrdiff_t>(part.origin)};
  }
  return e;
}

// The blocks of keys and values as they arrive at this rank: its own, that of the rank before it, and so on. Ranks of
// one process have all blocks from the beginning, so no rank waits for another one between two blocks.
template <class Key, class Keys, class Values>
class ring_of_blocks {
 public:
  using key = Key;
  using block = key_block<Keys, Values>;

  ring_of_blocks(const Keys& k, const Values& v, const ranks::communicator& along)
      : along_(along),
        text_(call_text("ring_attention", dims_t<shape_of<Keys>>{}, k.extents()) +
              call_text(" with", dims_t<shape_of<Values>>{}, v.extents())),
        owner_(along.rank()),
        here_(new block{k, v, text_}) {
    if (!ranks::detail::shared_objects::has(along)) {
      parts_ = parts_of_all<Key>(k.extents(), along, "ring_attention");
      return;
    }
    all_ = ranks::detail::shared_objects::of_all(along, here_, text_);
    for (std::size_t r = 0; r < all_.size(); ++r) {
      if (all_[r]->text != text_) { throw_other_call(r); }
      parts_.push_back(part_of_extents<Key>(all_[r]->k.extents()));
    }
  }

  /// The block that is here, and the rank that it belongs to. `const`, because `data()` for writing makes copies.
  [[nodiscard]] const Keys& keys() const { return here_->k; }
  [[nodiscard]] const Values& values() const { return here_->v; }
  [[nodiscard]] bool is_own() const { return owner_ == along_.rank(); }
  [[nodiscard]] bool is_last() const { return step_ + 1 == along_.size(); }
  [[nodiscard]] std::size_t next_rank() const { return (along_.rank() + 1) % along_.size(); }
  [[nodiscard]] std::size_t previous_rank() const { return (along_.rank() + along_.size() - 1) % along_.size(); }
  /// The part of the block that arrives next; after the last one it is this rank's own.
  [[nodiscard]] const part_of_rank& coming() const { return parts_[(owner_ + parts_.size() - 1) % parts_.size()]; }
  [[nodiscard]] const std::string& text() const { return text_; }

  /// Starts to send the block on, and to receive the next one.
  void start() {
    if (is_last() || !all_.empty()) { return; }
    const block& now = *here_;
    there_.reset(new block{Keys::for_overwriting(extents_with_part<Key>(now.k.extents(), coming())),
                           Values::for_overwriting(extents_with_part<Key>(now.v.extents(), coming())), text_});
    keys_sent_ = along_.permute(now.k.data(), now.k.size(), next_rank(), there_->k.overwrite(), there_->k.size(),
                                previous_rank(), text_);
    values_sent_ = along_.permute(now.v.data(), now.v.size(), next_rank(), there_->v.overwrite(), there_->v.size(),
                                  previous_rank(), text_);
  }
  /// Waits for the next block. False after the last one.
  bool next() {
    if (is_last()) { return false; }
    owner_ = (owner_ + along_.size() - 1) % along_.size();
    ++step_;
    if (!all_.empty()) {
      here_ = std::move(all_[owner_]);
      return true;
    }
    keys_sent_.wait();
    values_sent_.wait();
    here_ = std::move(there_);
    return true;
  }

 private:
  [[noreturn]] void throw_other_call(std::size_t rank) const {
    const auto name = [&](std::size_t r) { return "rank " + std::to_string(along_.rank_in_world(r)); };
    throw ranks::rank_error("ranks disagree: " + name(along_.rank()) + " calls " + text_ + ", and " + name(rank) +
                                " calls " + all_[rank]->text,
                            along_.rank_in_world(rank));
  }

  const ranks::communicator& along_;
  std::vector<part_of_rank> parts_{};
  std::string text_;
  std::size_t owner_;
  std::size_t step_ = 0;
  // Blocks stay where they are while messages refer to them: a small tensor has its elements inside.
  std::shared_ptr<const block> here_;
  std::shared_ptr<block> there_{};
  std::vector<std::shared_ptr<const block>> all_{};  // of ranks that share memory: those that have not been here yet
  ranks::request keys_sent_{};                       // end before the blocks
  ranks::request values_sent_{};
};

// ---- the forward pass -----------------------------------------------------------------------------------------------

// Attention over one block. `Result` is the shape of the output.
template <class Key, class Result, class S, class V>
auto attended_block(const S& s, const V& v) {
  using weights = typename ring_weights<Key, shape_of<S>>::shape;
  return make_contraction<list<Key>, list<>, accepted<Result>>("ring_attention",
                                                               make_rows<weights, rows::softmax, list<Key>>(s), v);
}
template <class Key, class Result, class S, class V>
auto part_of_block(const S& s, const V& v) {
  using sums = typename ring_sums<Key, shape_of<S>>::shape;
  return attention_part_of(attended_block<Key, Result>(s, v),
                           make_total<sums, value_of<S>, totals::logsumexp, list<Key>>(s));
}

// Merged in the order in which the blocks arrive: no memory grows with the number of ranks. Blocks that the masks hide
// are not computed.
template <class Key, class Result, class S, class Q, class K, class V>
auto attention_round_the_ring(const S& s, const Q& q, const K& k, const V& v, const ranks::communicator& along) {
  using formula = ring_scores<Key, S>;
  ring_of_blocks<Key, K, V> blocks(k, v, along);
  blocks.start();
  auto result = part_of_block<Key, Result>(formula::with(s, q, blocks.keys()), blocks.values());
  while (blocks.next()) {
    blocks.start();
    const auto scores = formula::with(s, q, blocks.keys());
    if (may_show_any<Key>(scores)) {
      result = dimwise::merge(result, part_of_block<Key, Result>(scores, blocks.values()));
    }
  }
  return result;
}

// The elements of all ranks, one rank after another.
template <class Tensor>
std::vector<Tensor> tensors_of_all(const Tensor& mine, const ranks::communicator& along, const std::string& text) {
  using T = typename Tensor::value_type;
  const std::size_t n = mine.size();
  aligned_vector<T> all(n * along.size());
  along.all_gather(mine.data(), all.data(), std::vector<std::size_t>(along.size(), n).data(), text);
  std::vector<Tensor> result;
  for (std::size_t r = 0; r < along.size(); ++r) {
    result.push_back(Tensor::for_overwriting(mine.extents()));
    copy_elements(all.data() + r * n, n, result.back().overwrite());
  }
  return result;
}
// The parts of all ranks, merged in the order of the ranks: the same bits on each of them.
template <class Output, class Sums>
attention_part<Output, Sums> merged_parts(const attention_part<Output, Sums>& mine, const ranks::communicator& along) {
  const std::string text = call_text("ring_attention", dims_t<shape_of<Output>>{}, mine.output.extents());
  const auto outputs = tensors_of_all(mine.output, along, text);
  const auto sums = tensors_of_all(mine.log_sum_exp, along, text);
  attention_part<Output, Sums> result{outputs[0], sums[0]};
  for (std::size_t r = 1; r < outputs.size(); ++r) {
    result = dimwise::merge(result, attention_part<Output, Sums>{outputs[r], sums[r]});
  }
  return result;
}

}  // namespace detail
}  // namespace dimwise

#include <dimwise/ranks/attention/ring_gradient.hpp>

namespace dimwise {

namespace detail {

template <class Key, class Result, class S, class V, class Mesh>
auto ring_attended(const S& s, const V& v, const Mesh& mesh) {
  using M = first_t<mesh_axes_t<Key>>;
  const ranks::communicator& along = mesh.template along<M>();
  constexpr bool travels = queries_are_divided<M, Result>;
  if constexpr (travels) { check_origins_of_parts<Key>(s); }
  if constexpr (is_tracked<S> || is_tracked<V>) {
    return ring_recorded<Key, Result, travels>(s, v, along);
  } else if constexpr (travels) {
    using formula = ring_scores<Key, S>;
    return attention_round_the_ring<Key, Result>(s, tensor(formula::queries(s)), tensor(formula::keys(s)), tensor(v),
                                                 along)
        .output;
  } else {
    return merged_parts(part_of_block<Key, Result>(s, v), along).output;
  }
}

}  // namespace detail

namespace no_adl {

/// Attention over the keys of all ranks along a mesh axis, of each of which this rank has the part Key: softmax of the
/// scores over all of them, contracted with the values (Liu, Zaharia and Abbeel 2023). Called by all ranks.
///
///   ring_attention<Key>(s, v, mesh):  [Q, Key, rest] x [Key, V, rest]  ->  [Q, V, rest]
///
/// `s` is the formula of the scores, masked and biased by positions; the blocks of other ranks take the place of its
/// keys. Blocks and stripes of any extents. If Q is a shard along the same axis, the blocks go around a ring and are
/// merged as they arrive; blocks that the masks hide are not computed. If Q is whole, the parts of the output are
/// gathered and merged in the order of the ranks, and the result is the same on all of them. Each way has the bits of
/// one rank that merges the same parts in the same order.
///
/// Rejects a Key that is whole or that the operands lack (R24), partial sums (R23), a formula that does not hold the
/// keys, or holds other elements along them, such as a given mask (R24), a mesh without the axis (R25), and what
/// softmax and contract reject. Where blocks travel, throws `origin_error` for masks with origins of their own. Throws
/// `rank_error` as collectives do.
template <class Key, operand S, operand V, class... Axes,
          class Verdict = detail::ring_verdict<Key, S, V, ranks::mesh<Axes...>>>
  requires allowed<Verdict>
[[nodiscard]] auto ring_attention(const S& s, const V& v, const ranks::mesh<Axes...>& mesh) {
  return detail::taking_part_along<detail::first_t<detail::mesh_axes_t<Key>>>(
      mesh, "ring_attention", [&] { return detail::ring_attended<Key, typename Verdict::shape>(s, v, mesh); });
}
template <class Key, operand S, operand V, class... Axes,
          class Verdict = detail::ring_verdict<Key, S, V, ranks::mesh<Axes...>>>
  requires refused<Verdict>
Verdict ring_attention(const S& s, const V& v, const ranks::mesh<Axes...>& mesh);

}  // namespace no_adl

}  // namespace dimwise
