// tests/conformance/onnxruntime/mha.cpp -- com.microsoft MultiHeadAttention.
//
// Slots: 0 query, 1 key, 2 value, 3 bias, 4 key_padding_mask, 5 attention_bias, 6 past_key, 7 past_value -> 0 output,
// 1 present_key, 2 present_value, 3 qk.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/attention/attention.hpp"

#include <cmath>

namespace conformance {
namespace {

using namespace dimwise;

constexpr shared_by one_each{1};  // every query head has its own key head

// Which of queries, keys and values, where one array holds them.
struct qkv : choice_dim<> {};

struct operands {
  kv_heads heads;
  queries q;
  keys k;
  values v;

  explicit operands(const run& r) : heads{r.integer("num_heads")} {
    const batch sequences{r.extent(0, 0)};
    if (r.rank(0) == 5) {
      const auto packed = r.get<float, batch, seq, kv_heads, qkv, d_k>(0);
      q = broadcast<shared_by>(at<qkv>(packed, 0), one_each);
      k = rename<seq, key>(at<qkv>(packed, 1));
      v = relabel<d_k, d_v>(rename<seq, key>(at<qkv>(packed, 2)));
      return;
    }
    q = r.grouped<float>(0, sequences, seq{r.extent(0, 1)}, heads, one_each, d_k{r.extent(0, 2) / heads.extent()});
    if (r.rank(1) == 5) {
      const auto packed = r.get<float, batch, key, kv_heads, qkv, d_k>(1);
      k = at<qkv>(packed, 0);
      v = relabel<d_k, d_v>(at<qkv>(packed, 1));
    } else if (r.rank(1) == 4) {
      k = r.get<float, batch, kv_heads, key, d_k>(1);
      v = r.get<float, batch, kv_heads, key, d_v>(2);
    } else {
      k = r.grouped<float>(1, sequences, key{r.extent(1, 1)}, heads, d_k{r.extent(1, 2) / heads.extent()});
      v = r.grouped<float>(2, sequences, key{r.extent(2, 1)}, heads, d_v{r.extent(2, 2) / heads.extent()});
    }
  }
};

// Biases of the three projections, one after the other.
void add_biases(const run& r, operands& in) {
  using of_queries = merged<kv_heads, shared_by, d_k>;
  using of_keys = merged<kv_heads, d_k>;
  using of_values = merged<kv_heads, d_v>;
  const auto all = r.get<float, summed<of_queries, of_keys, of_values>>(
      3, in.heads, one_each, d_k{in.q.extents().extent<d_k>()}, d_v{in.v.extents().extent<d_v>()});
  in.q = tensor(in.q + split<kv_heads, shared_by, d_k>(part<of_queries>(all)));
  in.k = tensor(in.k + split<kv_heads, d_k>(part<of_keys>(all)));
  in.v = tensor(in.v + split<kv_heads, d_v>(part<of_values>(all)));
}

// 1 says visible; or how many keys are, for each sequence.
void hide_padding(const run& r, const of_scores<bool>& like, between_scores_and_softmax& how) {
  const auto said = [](std::int64_t visible) { return visible != 0; };
  if (r.rank(4) == 1) {
    struct numbers : choice_dim<> {};
    const auto all = r.get<std::int64_t, numbers>(4);  // lengths, perhaps followed by other numbers
    const std::size_t count = like.extents().extent<batch>();
    how.lengths = tensor<std::int64_t, batch>(all.values().first(count), batch{count});
  } else if (r.rank(4) == 2) {
    hide(how, permute<batch, kv_heads, shared_by, seq, key>(
                  broadcast_like(map(said, r.get<std::int64_t, batch, key>(4)), like)));
  } else {
    hide(how, permute<batch, kv_heads, shared_by, seq, key>(
                  broadcast_like(map(said, r.get<std::int64_t, batch, seq, key>(4)), like)));
  }
}

void multi_head_attention(run& r) {
  operands in(r);
  if (r.has(3)) { add_biases(r, in); }
  std::size_t past = 0;
  if (r.has(6)) {
    past = r.extent(6, 2);
    in.k = tensor(concat<key>(r.get<float, batch, kv_heads, key, d_k>(6), in.k));
    in.v = tensor(concat<key>(r.get<float, batch, kv_heads, key, d_v>(7), in.v));
  }
  const batch sequences{in.q.extents().extent<batch>()};
  const seq positions{in.q.extents().extent<seq>()};
  const key all{in.k.extents().extent<key>()};
  const of_scores<bool> like(sequences, in.heads, one_each, positions, all);

  const double scale = r.number("scale", 0.0);
  between_scores_and_softmax how{
      .scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(in.q.extents().extent<d_k>()))};
  if (r.flag("unidirectional", false)) {
    how.right = 0;
    how.first_query = static_cast<std::ptrdiff_t>(past);
  }
  if (r.has(4)) { hide_padding(r, like, how); }
  if (r.has(5)) {
    const auto bias = r.stretched<float>(5, sequences, in.heads, positions, all);
    take_additive(how, permute<batch, kv_heads, shared_by, seq, key>(broadcast<shared_by>(bias, one_each)));
  }

  r.expect(0, permute<batch, seq, kv_heads, shared_by, d_v>(attend(in.q, in.k, in.v, how)));
  if (r.wants(1)) { r.expect(1, in.k); }
  if (r.wants(2)) { r.expect(2, in.v); }
  if (r.wants(3)) { r.expect(3, scores_at(stage::masked, in.q, in.k, how)); }
}
const family mha_cases{"MultiHeadAttention", multi_head_attention};

}  // namespace
}  // namespace conformance
