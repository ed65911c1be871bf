// tests/conformance/attention_chain.hpp -- from queries and keys to what goes into the softmax, as expressions: each
// combination of what is optional has its own type.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "attention.hpp"

namespace conformance {

template <class S, class Next>
auto with_masks(const S& s, const queries& q, const keys& k, const between_scores_and_softmax& how, Next next) {
  const auto rows = dimwise::starting_at(seq{q.extents().extent<seq>()}, how.first_query);
  const key columns{k.extents().extent<key>()};
  const dimwise::window<seq, key> near(how.left, how.right, rows, columns);
  if (how.visible || how.lengths) {
    const auto everything = [&] {
      of_scores<bool> all(batch{q.extents().extent<batch>()}, kv_heads{q.extents().extent<kv_heads>()}, shared_by{q.extents().extent<shared_by>()},
                          seq{rows.extent()}, columns);
      all.fill(true);
      return all;
    };
    const auto full_length = [&] {
      dimwise::tensor<std::int64_t, batch> n(batch{q.extents().extent<batch>()});
      n.fill(static_cast<std::int64_t>(columns.extent()));
      return n;
    };
    const auto lengths = how.lengths ? *how.lengths : full_length();
    const auto visible = how.visible ? *how.visible : everything();
    return next(dimwise::masked(s, near & dimwise::padding<key>(lengths) & dimwise::allow(visible)));
  }
  if (how.left < 0 && how.right == 0) { return next(dimwise::masked(s, dimwise::causal<seq, key>(rows, columns))); }
  if (how.left >= 0 || how.right >= 0) { return next(dimwise::masked(s, near)); }
  return next(s);
}

// `next` of the scores as they go into the softmax.
template <class Next>
auto with_scores(const queries& q, const keys& k, const between_scores_and_softmax& how, Next next) {
  const auto s = dimwise::scaled(dimwise::contract<d_k>(q, k), how.scale);
  const auto biased_and_masked = [&](const auto& capped) {
    if (how.bias) { return with_masks(dimwise::biased(capped, *how.bias), q, k, how, next); }
    return with_masks(capped, q, k, how, next);
  };
  if (how.cap != 0) { return biased_and_masked(dimwise::tanh(s * (1 / how.cap)) * how.cap); }
  return biased_and_masked(s);
}

// Σ exp(s) / (Σ exp(s) + exp(sink)): what a sink leaves of the weights.
template <class S>
auto left_by_sink(const S& s, const between_scores_and_softmax& how) {
  return dimwise::sigmoid(dimwise::logsumexp<key>(s) - *how.sink);
}

}  // namespace conformance
