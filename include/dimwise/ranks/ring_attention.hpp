// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/ring_attention.hpp -- attention over keys and values that several ranks share.
//
// Layer: ranks. Liu, Zaharia and Abbeel 2023: the blocks of keys and values go around a ring of ranks; each rank
// computes the attention of its own queries over the block that it has while it sends it on.
// Tests: tests/ranks/ring_attention.test.cpp
//
//   const auto y = ring_attention<key>(
//       [&](const auto& keys) { return masked(scores<d_k>(q, keys), causal<seq, key>{}); }, k, v, ring);
#pragma once

#include <dimwise/eval/partial_attention.hpp>
#include <dimwise/ranks/communicator.hpp>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dimwise::ranks {

namespace detail {

template <class Keys, class Values>
struct key_block {
  Keys k;
  Values v;
};
// The extents and origins of a block, as bytes: they differ between ranks along the keys.
template <class Keys, class Values>
struct block_extents {
  typename Keys::extents_type k;
  typename Values::extents_type v;
};

}  // namespace detail

/// Attention over the keys of all ranks of `ring`, each of which has a block of them: `scores_of(k)` are the scores of
/// this rank's queries and a block of keys, masked and biased as they are to be.
///
///   [Q, Key, rest] x [Key, V, rest]  ->  output [Q, V, rest], log_sum_exp [Q, rest]
///
/// The blocks may have different lengths; masks see the origin of each. The parts are merged in the order of the
/// ranks, so the result does not depend on where a rank begins, and equals that of one rank that merges the same
/// blocks. Every rank calls it; throws what `communicator::permute` throws.
template <class Key, class Scores, class... K, class... V>
[[nodiscard]] auto ring_attention(const Scores& scores_of, const tensor<K...>& k, const tensor<V...>& v,
                                  const communicator& ring) {
  using keys = tensor<K...>;
  using values = tensor<V...>;
  using extents = detail::block_extents<keys, values>;
  static_assert(std::is_trivially_copyable_v<extents>, "blocks of packed documents are not sent");
  using part = decltype(partial_attention<Key>(scores_of(k), v));

  const std::size_t ranks = ring.size();
  const std::size_t own = ring.rank();
  const std::size_t next = (own + 1) % ranks;
  const std::size_t previous = (own + ranks - 1) % ranks;
  std::string shape;
  if (ring.is_checked()) {
    shape = "ring_attention ";
    for (const auto name : {dimwise::detail::raw_type_name<keys>(), dimwise::detail::raw_type_name<values>()}) {
      dimwise::detail::say_name(name, [&](char c) { shape += c; });
      shape += ' ';
    }
  }
  std::vector<extents> of_all(ranks, extents{k.extents(), v.extents()});
  const extents of_own = of_all[own];
  ring.all_gather(&of_own, of_all.data(), std::vector<std::size_t>(ranks, 1).data(), shape);

  // Blocks stay where they are while messages refer to them: a small tensor has its elements inside.
  using block = detail::key_block<keys, values>;
  auto here = std::make_unique<block>(block{k, v});
  std::unique_ptr<block> there;
  std::vector<std::optional<part>> parts(ranks);
  for (std::size_t step = 0; step < ranks; ++step) {
    const block& now = *here;  // const: `data()` for writing would make expressions copy it
    const std::size_t owner = (own + ranks - step) % ranks;
    request keys_sent;
    request values_sent;
    if (step + 1 < ranks) {
      const extents& coming = of_all[(owner + ranks - 1) % ranks];
      // In place: unwritten elements are not copied.
      there.reset(new block{keys::for_overwriting(coming.k), values::for_overwriting(coming.v)});
      keys_sent =
          ring.permute(now.k.data(), now.k.size(), next, there->k.overwrite(), there->k.size(), previous, shape);
      values_sent =
          ring.permute(now.v.data(), now.v.size(), next, there->v.overwrite(), there->v.size(), previous, shape);
    }
    parts[owner].emplace(partial_attention<Key>(scores_of(now.k), now.v));
    keys_sent.wait();
    values_sent.wait();
    here.swap(there);
  }
  part result = std::move(*parts[0]);
  for (std::size_t r = 1; r < ranks; ++r) { result = merge(result, *parts[r]); }
  return result;
}

}  // namespace dimwise::ranks
