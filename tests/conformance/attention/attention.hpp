// tests/conformance/attention/attention.hpp -- the attention of ONNX and ONNX Runtime, with every option.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "conformance/case.hpp"

namespace conformance {

struct batch : dimwise::batch_dim<> {};
struct kv_heads : dimwise::heads_dim<> {};
struct shared_by : dimwise::heads_dim<> {};  // the query heads of a key head
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_k : dimwise::feature_dim<> {};
struct d_v : dimwise::feature_dim<> {};

using queries = dimwise::tensor<float, batch, kv_heads, shared_by, seq, d_k>;
using keys = dimwise::tensor<float, batch, kv_heads, key, d_k>;
using values = dimwise::tensor<float, batch, kv_heads, key, d_v>;
using context = dimwise::tensor<float, batch, kv_heads, shared_by, seq, d_v>;
template <class T>
using of_scores = dimwise::tensor<T, batch, kv_heads, shared_by, seq, key>;

/// What stands between a product of queries and keys and its softmax; everything but the scale may be missing.
struct between_scores_and_softmax {
  double scale = 1;
  double cap = 0;                             // cap · tanh(s / cap), where it is not 0
  std::optional<of_scores<float>> bias = {};  // without infinities: what these hide is in `visible`
  std::ptrdiff_t left = -1;                   // keys visible before and after the query; all, where negative
  std::ptrdiff_t right = -1;
  std::ptrdiff_t first_query = 0;  // the position of the first query, where key 0 has position 0
  std::optional<dimwise::tensor<std::int64_t, batch>> lengths = {};
  std::optional<of_scores<bool>> visible = {};
  std::optional<dimwise::tensor<float, kv_heads, shared_by>> sink =
      {};  // one more score for each head, which has no value
};

/// The stages that operators expose.
enum class stage { product, capped, masked, weights };

/// softmax(…)·v.
[[nodiscard]] context attend(const queries& q, const keys& k, const values& v, const between_scores_and_softmax& how);
/// The scores at a stage before their softmax, or the weights.
[[nodiscard]] of_scores<float> scores_at(stage which, const queries& q, const keys& k,
                                         const between_scores_and_softmax& how);

/// A bias as other libraries give it: −∞ hides. Splits it into what is visible, and the rest.
void take_additive(between_scores_and_softmax& how, const of_scores<float>& mask);
/// Hides more.
void hide(between_scores_and_softmax& how, const of_scores<bool>& visible);

/// Whole numbers 0, 1, 2, …
template <class D>
[[nodiscard]] dimwise::tensor<std::int64_t, D> counted(const D& extent) {
  dimwise::tensor<std::int64_t, D> all(extent);
  std::int64_t next = 0;
  for (std::int64_t* at = all.data(); next < static_cast<std::int64_t>(all.size()); ++next) { at[next] = next; }
  all.seal();
  return all;
}

/// Keys are visible up to `left` before and `right` after a query whose first position differs by sequence.
[[nodiscard]] of_scores<bool> window_from(const dimwise::tensor<std::int64_t, batch>& first_query, std::ptrdiff_t left,
                                          std::ptrdiff_t right, const of_scores<bool>& like);

}  // namespace conformance
