// tests/conformance/onnx/attention.cpp -- ai.onnx Attention, versions 23 to 25.
//
// Slots: 0 Q, 1 K, 2 V, 3 attn_mask, 4 past_key, 5 past_value, 6 nonpad_kv_seqlen -> 0 Y, 1 present_key, 2
// present_value, 3 qk_matmul_output.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/attention/attention.hpp"

#include <cmath>
#include <limits>

namespace conformance {
namespace {

using namespace dimwise;

// Q, K and V have four axes, heads before positions, or three, heads beside the features of each position.
struct operands {
  batch sequences;
  kv_heads heads;
  shared_by group;
  seq positions;
  queries q;
  keys k;
  values v;
  bool packed;

  explicit operands(const run& r) : sequences{r.extent(0, 0)}, packed(r.rank(0) == 3) {
    const std::size_t q_heads = packed ? static_cast<std::size_t>(r.integer("q_num_heads")) : r.extent(0, 1);
    heads = kv_heads{packed ? static_cast<std::size_t>(r.integer("kv_num_heads")) : r.extent(1, 1)};
    group = shared_by{q_heads / heads.extent()};
    positions = seq{r.extent(0, packed ? 1 : 2)};
    const key new_keys{r.extent(1, packed ? 1 : 2)};
    const d_k qk_features{r.extent(0, packed ? 2 : 3) / (packed ? q_heads : 1)};
    const d_v v_features{r.extent(2, packed ? 2 : 3) / (packed ? heads.extent() : 1)};
    if (packed) {
      q = r.grouped<float>(0, sequences, positions, heads, group, qk_features);
      k = r.grouped<float>(1, sequences, new_keys, heads, qk_features);
      v = r.grouped<float>(2, sequences, new_keys, heads, v_features);
    } else {
      q = r.grouped<float>(0, sequences, heads, group, positions, qk_features);
      k = r.grouped<float>(1, sequences, heads, new_keys, qk_features);
      v = r.grouped<float>(2, sequences, heads, new_keys, v_features);
    }
  }
};

// The given mask over all scores: up to four axes from the right, extents of 1 stretched, a short last axis filled up.
template <class T>
of_scores<T> mask_over(const run& r, const operands& in, const key& all, T filler) {
  struct heads : heads_dim<> {};
  const heads q_heads{in.heads.extent() * in.group.extent()};
  const key given{r.extent(3, r.rank(3) - 1)};
  const auto mask = r.stretched<T>(3, in.sequences, q_heads, in.positions, given);
  const of_scores<T> grouped(mask.values(), in.sequences, in.heads, in.group, in.positions, given);
  of_scores<T> rest(in.sequences, in.heads, in.group, in.positions, key{all.extent() - given.extent()});
  rest.fill(filler);
  return concat<key>(grouped, rest);
}

// Keys and values of half precision, read in the bits that they are stored in.
context attend_to_halves(const run& r, const operands& in, double scale) {
  const key all{in.k.extents().extent<key>()};
  const d_k qk_features{in.k.extents().extent<d_k>()};
  const d_v v_features{in.v.extents().extent<d_v>()};
  tensor<float16, batch, kv_heads, key, d_k> k;
  tensor<float16, batch, kv_heads, key, d_v> v;
  if (in.packed) {
    k = permute<batch, kv_heads, key, d_k>(r.grouped<float16>(1, in.sequences, all, in.heads, qk_features));
    v = permute<batch, kv_heads, key, d_v>(r.grouped<float16>(2, in.sequences, all, in.heads, v_features));
  } else {
    k = r.grouped<float16>(1, in.sequences, in.heads, all, qk_features);
    v = r.grouped<float16>(2, in.sequences, in.heads, all, v_features);
  }
  return contract<key>(softmax<key>(scaled(contract<d_k>(in.q, widened(k)), scale)), widened(v));
}

void attention(run& r) {
  operands in(r);
  const std::size_t past = r.has(4) ? r.extent(4, 2) : 0;
  if (r.has(4)) {
    in.k = tensor(concat<key>(r.get<float, batch, kv_heads, key, d_k>(4), in.k));
    in.v = tensor(concat<key>(r.get<float, batch, kv_heads, key, d_v>(5), in.v));
  }
  const key all{in.k.extents().extent<key>()};

  const double features = static_cast<double>(in.q.extents().extent<d_k>());
  between_scores_and_softmax how{.scale = r.number("scale", 1 / std::sqrt(features)), .cap = r.number("softcap", 0.0)};
  std::ptrdiff_t left = r.integer("left_window_size", -1);
  std::ptrdiff_t right = r.integer("right_window_size", -1);
  if (r.flag("is_causal", false)) { right = 0; }
  of_scores<bool> everything(in.sequences, in.heads, in.group, in.positions, all);
  if (r.has(3)) {
    if (r.dtype(3) == "bool") {
      hide(how, mask_over(r, in, all, false));
    } else {
      take_additive(how, mask_over(r, in, all, -std::numeric_limits<float>::infinity()));
    }
  }
  if (r.has(6)) {
    // Keys beyond the length do not exist; the last query stands at the last of the others.
    how.lengths = r.get<std::int64_t, batch>(6);
    if (left >= 0 || right >= 0) {
      const tensor first_query = *how.lengths - static_cast<std::int64_t>(in.positions.extent());
      hide(how, window_from(first_query, left, right, everything));
    }
  } else {
    how.left = left;
    how.right = right;
    how.first_query = static_cast<std::ptrdiff_t>(past);
  }

  const auto expect = [&](const context& y) {
    if (in.packed) {
      r.expect(0, permute<batch, seq, kv_heads, shared_by, d_v>(y));
    } else {
      r.expect(0, y);
    }
  };
  expect(attend(in.q, in.k, in.v, how));
  const bool anything_between =
      how.cap != 0 || how.bias || how.visible || how.lengths || how.left >= 0 || how.right >= 0;
  if (r.dtype(1) == "float16" && past == 0 && !anything_between) { expect(attend_to_halves(r, in, how.scale)); }
  if (r.wants(1)) { r.expect(1, in.k); }
  if (r.wants(2)) { r.expect(2, in.v); }
  if (r.wants(3)) {
    constexpr stage stages[] = {stage::product, stage::capped, stage::masked, stage::weights};
    r.expect(3, scores_at(stages[r.integer("qk_matmul_output_mode", 0)], in.q, in.k, how));
  }
}
const family attention_cases{"Attention", attention};

}  // namespace
}  // namespace conformance
