// tests/conformance/onnxruntime/gqa.cpp -- com.microsoft GroupQueryAttention.
//
// Slots: 0 query, 1 key, 2 value, 3 past_key, 4 past_value, 5 seqlens_k, 6 total_sequence_length, 7 cos_cache, 8
// sin_cache, 9 position_ids, 10 attention_bias, 11 head_sink, 12 k_scale, 13 v_scale -> 0 output, 1 present_key, 2
// present_value, 3 output_qk.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/attention/rotary_cache.hpp"

#include <algorithm>
#include <cmath>

namespace conformance {
namespace {

using namespace dimwise;

struct group_query {
  run& r;
  batch sequences;
  seq positions;
  kv_heads heads;
  shared_by group;
  d_k features;
  queries q;
  keys k;  // of the new positions
  values v;
  tensor<std::int64_t, batch> totals;       // how many keys each sequence has, the new ones among them
  tensor<std::int64_t, batch> first_query;  // the position of its first query
  key all;                                  // the keys of the longest
  between_scores_and_softmax how;

  explicit group_query(run& of) : r(of) {
    sequences = batch{r.extent(0, 0)};
    positions = seq{r.extent(0, 1)};
    heads = kv_heads{r.integer("kv_num_heads")};
    group = shared_by{static_cast<std::size_t>(r.integer("num_heads")) / heads.extent()};
    read_operands();

    totals = map([](std::int64_t n) { return n + 1; }, r.grouped<std::int64_t>(5, sequences));
    const std::int64_t longest = r.get<std::int64_t>(6)();
    const auto queries_each = static_cast<std::int64_t>(positions.extent());
    const bool first_prompt = queries_each == longest;
    first_query = map([=](std::int64_t n) { return first_prompt ? 0 : n - queries_each; }, totals);
    all = key{longest};
    if (r.flag("do_rotary", false)) { turn(); }

    const double scale = r.number("scale", 0.0);
    how.scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(features.extent()));
    how.cap = r.number("softcap", 0.0);
    place_masks();
    if (r.has(10)) {
      struct q_heads : heads_dim<> {};
      const auto bias = r.stretched<float>(10, sequences, q_heads{heads.extent() * group.extent()}, positions, all);
      take_additive(how, of_scores<float>(bias.values(), sequences, heads, group, positions, all));
    }
    if (r.has(11)) {
      how.sink = r.grouped<float>(11, heads, group);
    } else if (r.flag("smooth_softmax", false)) {
      how.sink = tensor<float, kv_heads, shared_by>(heads, group);
    }
  }

  void read_operands() {
    if (!r.has(1)) {
      using of_queries = merged<kv_heads, shared_by, d_k>;
      using of_keys = merged<kv_heads, d_k>;
      using of_values = merged<kv_heads, d_v>;
      const std::size_t n = r.extent(0, 2) / (heads.extent() * (group.extent() + 2));
      features = d_k{n};
      const auto packed =
          r.get<float, batch, seq, summed<of_queries, of_keys, of_values>>(0, heads, group, features, d_v{n});
      q = split<kv_heads, shared_by, d_k>(part<of_queries>(packed));
      k = rename<seq, key>(split<kv_heads, d_k>(part<of_keys>(packed)));
      v = rename<seq, key>(split<kv_heads, d_v>(part<of_values>(packed)));
      return;
    }
    features = d_k{r.extent(0, 2) / (heads.extent() * group.extent())};
    q = r.grouped<float>(0, sequences, positions, heads, group, features);
    k = r.grouped<float>(1, sequences, key{r.extent(1, 1)}, heads, features);
    v = r.grouped<float>(2, sequences, key{r.extent(2, 1)}, heads, d_v{r.extent(2, 2) / heads.extent()});
  }

  // Queries and new keys stand at the same positions.
  void turn() {
    const auto pairs = r.flag("rotary_interleaved", false) ? rotary_pairs::interleaved : rotary_pairs::half_split;
    tensor<std::int64_t, batch, seq> places;
    if (r.has(9)) {
      places = r.get<std::int64_t, batch, seq>(9);
    } else {
      places = broadcast<batch>(counted(positions), sequences) + first_query;
    }
    const tensor ids = row_ids(places);
    const tensor<float, batch, seq, turned> cosines = gather<row>(r.get<float, row, turned>(7), ids);
    const tensor<float, batch, seq, turned> sines = gather<row>(r.get<float, row, turned>(8), ids);
    q = plain(rotary<seq, d_k>(q, cosines, sines, pairs));
    k = plain(rotary<key, d_k>(k, rename<seq, key>(cosines), rename<seq, key>(sines), pairs));
  }

  // A causal window of W keys ends with the query's own. Sequences may be of different lengths.
  void place_masks() {
    const bool causally = r.flag("causal", true);
    const std::ptrdiff_t width = r.integer("local_window_size", -1);
    const std::ptrdiff_t left = width > 0 ? width - 1 : -1;
    const std::ptrdiff_t right = causally ? 0 : -1;
    if (all_are(first_query, first_query.size() == 0 ? 0 : first_query.values().front())) {
      how.left = left;
      how.right = right;
      how.first_query = first_query.size() == 0 ? 0 : static_cast<std::ptrdiff_t>(first_query.values().front());
    } else {
      how.lengths = totals;
      hide(how, window_from(first_query, left, right, like_scores()));
    }
  }
  [[nodiscard]] static bool all_are(const tensor<std::int64_t, batch>& starts, std::int64_t wanted) {
    return std::ranges::all_of(starts.values(), [&](std::int64_t s) { return s == wanted; });
  }
  [[nodiscard]] of_scores<bool> like_scores() const { return of_scores<bool>(sequences, heads, group, positions, all); }

  // The present cache: new rows stand behind the past ones, in each sequence behind its own.
  template <class F, class T, class Past>
  [[nodiscard]] tensor<T, batch, kv_heads, key, F> grown(const Past& past,
                                                         const tensor<T, batch, kv_heads, key, F>& fresh) const {
    const auto rows = static_cast<std::int64_t>(past.extents().template extent<key>());
    const auto fresh_rows = static_cast<std::int64_t>(fresh.extents().template extent<key>());
    if (all_are(first_query, rows)) { return concat<key>(past, fresh); }
    struct place : prime<key> {};
    const auto source = [=](std::int64_t at, std::int64_t start) {
      const bool is_fresh = at >= start && at < start + fresh_rows;
      return id<key>(static_cast<std::size_t>(is_fresh ? rows + at - start : std::min(at, rows - 1)));
    };
    const tensor ids = map(source, broadcast<batch>(counted(place{all.extent()}), sequences), first_query);
    const auto both = gather<key>(concat<key>(past, fresh), ids);
    return permute<batch, kv_heads, key, F>(rename<place, key>(both));
  }

  template <class T, class F>
  [[nodiscard]] tensor<T, batch, kv_heads, key, F> past_or_none(int slot, const F& size) const {
    if (r.has(slot)) { return r.get<T, batch, kv_heads, key, F>(slot); }
    return tensor<T, batch, kv_heads, key, F>(sequences, heads, key{0}, size);
  }

  void report(const keys& present_k, const values& present_v) const {
    r.expect(0, permute<batch, seq, kv_heads, shared_by, d_v>(attend(q, present_k, present_v, how)));
    if (!r.wants(3)) { return; }
    if (r.integer("qk_output", 0) == 2) {
      r.expect(3, scores_at(stage::weights, q, present_k, how));
    } else {
      // What stands at hidden scores is not defined.
      const auto visible = window_from(first_query, how.left, how.right, like_scores());
      r.expect(3, scores_at(stage::masked, q, present_k, how), visible);
    }
  }
};

// One scale, or one for each channel; stored with an extent of 1 for what shares it.
template <class F>
tensor<float, kv_heads, F> scale_of(const group_query& g, int slot, const F& size) {
  if (g.r.rank(slot) == 1) {
    tensor<float, kv_heads, F> all(g.heads, size);
    all.fill(g.r.get<float, batch>(slot)(id<batch>{0}));
    return all;
  }
  const auto stretched = g.r.stretched<float>(slot, batch{1}, g.heads, key{1}, size);
  return tensor<float, kv_heads, F>(stretched.values(), g.heads, size);
}

template <class F>
auto in_8_bits(const tensor<float, batch, kv_heads, key, F>& x, const tensor<float, kv_heads, F>& scale) {
  const auto nearest = [](float value, float s) {
    return static_cast<std::int8_t>(quantised_number(value, s, -128, 127));
  };
  return tensor<std::int8_t, batch, kv_heads, key, F>(map(nearest, x, scale));
}

// Neighbouring channels share a byte.
struct two : choice_dim<2> {};
template <class F>
auto in_4_bits(const tensor<float, batch, kv_heads, key, F>& x, const tensor<float, kv_heads, F>& scale) {
  const auto nearest = [](float value, float s) { return quantised_number(value, s, -8, 7); };
  const tensor<int, batch, kv_heads, key, F> whole = map(nearest, x, scale);
  const auto& e = x.extents();
  const tensor<int, batch, kv_heads, key, half<F>, two> pairs(
      whole.values(), batch{e.template extent<batch>()}, kv_heads{e.template extent<kv_heads>()},
      key{e.template extent<key>()}, half<F>{e.template extent<F>() / 2});
  return tensor<int4_pair, batch, kv_heads, key, half<F>>(
      map([](int a, int b) { return int4_pair(a, b); }, at<two>(pairs, 0), at<two>(pairs, 1)));
}

// Fused attention reads the narrow numbers themselves; with anything but a causal mask they are widened first.
template <class K, class V>
void report_quantised(const group_query& g, const K& k, const V& v) {
  const auto& how = g.how;
  if (how.right == 0 && how.left < 0 && how.cap == 0 && !how.bias && !how.visible && !how.lengths && !how.sink &&
      !g.r.wants(3)) {
    const auto s = masked(scaled(contract<d_k>(g.q, k), how.scale),
                          causal<seq, key>(starting_at(g.positions, how.first_query), g.all));
    g.r.expect(0, permute<batch, seq, kv_heads, shared_by, d_v>(contract<key>(softmax<key>(s), v)));
  } else {
    g.report(tensor(k), tensor(v));
  }
}

void group_query_attention(run& r) {
  const group_query g(r);
  const d_v channels{g.v.extents().extent<d_v>()};
  const bool quantised = r.has(12);
  if (!quantised) {
    const keys k = g.grown(g.past_or_none<float>(3, g.features), g.k);
    const values v = g.grown(g.past_or_none<float>(4, channels), g.v);
    g.report(k, v);
    if (r.wants(1)) { r.expect(1, k); }
    if (r.wants(2)) { r.expect(2, v); }
    return;
  }
  const auto k_scale = scale_of(g, 12, g.features);
  const auto v_scale = scale_of(g, 13, channels);
  if (r.integer("kv_cache_bit_width", 8) == 8) {
    const auto k = g.grown(g.past_or_none<std::int8_t>(3, g.features), in_8_bits(g.k, k_scale));
    const auto v = g.grown(g.past_or_none<std::int8_t>(4, channels), in_8_bits(g.v, v_scale));
    report_quantised(g, dequantised(k, k_scale), dequantised(v, v_scale));
    if (r.wants(1)) { r.expect(1, k); }
    if (r.wants(2)) { r.expect(2, v); }
  } else {
    const auto unpacked = [](std::uint8_t bits) {
      int4_pair pair;
      pair.bits = bits;
      return pair;
    };
    const auto bits = [](int4_pair pair) { return pair.bits; };
    const auto past = [&](int slot, auto size) {
      return tensor(map(unpacked, g.past_or_none<std::uint8_t>(slot, size)));
    };
    const auto k = g.grown(past(3, half<d_k>{g.features.extent() / 2}), in_4_bits(g.k, k_scale));
    const auto v = g.grown(past(4, half<d_v>{channels.extent() / 2}), in_4_bits(g.v, v_scale));
    report_quantised(g, dequantised<d_k>(k, k_scale, g.features), dequantised<d_v>(v, v_scale, channels));
    if (r.wants(1)) { r.expect(1, map(bits, k)); }
    if (r.wants(2)) { r.expect(2, map(bits, v)); }
  }
}
const family gqa_cases{"GroupQueryAttention", group_query_attention};

}  // namespace
}  // namespace conformance
