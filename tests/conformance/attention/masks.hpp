// tests/conformance/attention/masks.hpp -- the masks of attention.hpp as masks of dimwise.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "attention.hpp"

namespace conformance {

/// The extents of the scores of these queries and keys.
struct extents_of_scores {
  batch sequences;
  kv_heads heads;
  shared_by group;
  seq rows;
  key columns;
  extents_of_scores(const queries& q, const keys& k)
      : sequences{q.extents().extent<batch>()},
        heads{q.extents().extent<kv_heads>()},
        group{q.extents().extent<shared_by>()},
        rows{q.extents().extent<seq>()},
        columns{k.extents().extent<key>()} {}
};

inline dimwise::window<seq, key> nearby(const extents_of_scores& of, const between_scores_and_softmax& how) {
  return {how.left, how.right, starting_at(of.rows, how.first_query), of.columns};
}
inline dimwise::tensor<std::int64_t, batch> lengths_or_all(const extents_of_scores& of,
                                                           const between_scores_and_softmax& how) {
  if (how.lengths) { return *how.lengths; }
  dimwise::tensor<std::int64_t, batch> all(of.sequences);
  all.fill(static_cast<std::int64_t>(of.columns.extent()));
  return all;
}
inline of_scores<bool> visible_or_all(const extents_of_scores& of, const between_scores_and_softmax& how) {
  if (how.visible) { return *how.visible; }
  of_scores<bool> all(of.sequences, of.heads, of.group, of.rows, of.columns);
  all.fill(true);
  return all;
}

/// Σ exp(s) / (Σ exp(s) + exp(sink)): what a sink leaves of the weights of a row.
using share_of_scores = dimwise::tensor<float, batch, kv_heads, shared_by, seq>;
[[nodiscard]] share_of_scores left_by_sink(const queries& q, const keys& k, const between_scores_and_softmax& how);

}  // namespace conformance
