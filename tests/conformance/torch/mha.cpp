// tests/conformance/torch/mha.cpp -- nn.MultiheadAttention: self and cross, in every layout, with masks and returned
// weights.
// SPDX-License-Identifier: BSL-1.0
#include "modules.hpp"

namespace conformance::torch {
namespace {

// Compares the output, and the weights where they are asked for: [batch, Q, K] on average over heads unless told
// otherwise, else [batch, heads, Q, K]. `expect(name, value)` compares one of them.
template <class... Batch, class Expect, class Module, class X, class M, class V, class... How>
void attend(run& r, Expect expect, const Module& attention, const X& x, const M& memory, const V& values,
            const How&... how) {
  using K = nn::detail::positions_of_t<M>;
  const X y = attention(x, memory, values, how...);
  r.rank("query") == 2 || r.flag("batch_first", true) ? expect("attn_output", y)
                                                      : expect("attn_output", permute<seq, Batch..., d_model>(y));
  if (!r.wants("attn_output_weights")) { return; }
  const tensor w = attention.weights(x, memory, how...);
  if (r.flag("average_attn_weights", true)) {
    expect("attn_output_weights", permute<Batch..., seq, K>(mean<heads>(w)));
  } else {
    expect("attn_output_weights", permute<Batch..., heads, seq, K>(w));
  }
}

// Rows that see no key are NaN in PyTorch 1.13 and 0 here: they are not compared (docs/decisions/0008).
struct everywhere {};
template <class K, class M>
auto sees_some(const M& visible, const seq& queries, const K& keys) {
  return tensor(map([](float n) { return n > 0; }, sum<K>(indicator(visible, queries, keys))));
}
template <class K, mask... M>
  requires(sizeof...(M) > 0)
auto compared_rows(const seq& queries, const K& keys, const M&... visible) {
  return sees_some<K>((visible & ...), queries, keys);
}
template <class K, class... How>
everywhere compared_rows(const seq&, const K&, const How&...) {
  return {};
}
template <class Y>
void expect_at(run& r, const char* output, const Y& y, everywhere) {
  r.expect(output, y);
}
template <class Y, operand W>
void expect_at(run& r, const char* output, const Y& y, const W& where) {
  r.expect(output, y, where);
}

// Masks as they stand in the file, over the dimensions that they have.
template <class Module, class X, class M, class V>
void attend_masked(run& r, const Module& attention, const X& x, const M& memory, const V& values) {
  using K = nn::detail::positions_of_t<M>;
  with_masks<seq, K>(r, "attn_mask", "key_padding_mask", [&](const auto&... how) {
    const auto where = compared_rows(seq{extent_of<seq>(x)}, K{extent_of<K>(memory)}, how...);
    attend<batch>(r, [&](const char* name, const auto& y) { expect_at(r, name, y, where); }, attention, x, memory,
                  values, how...);
  });
}

// The same, all masks as one bias and one mask over everything: one type for every case.
template <class Module, class X, class M, class V>
void attend_spread(run& r, heads h, const Module& attention, const X& x, const M& memory, const V& values) {
  using K = nn::detail::positions_of_t<M>;
  using all = tensor<float, batch, heads, seq, K>;
  const seq queries{extent_of<seq>(x)};
  const K keys{extent_of<K>(memory)};
  all bias(batch{extent_of<batch>(x)}, h, queries, keys);
  all hidden = bias;
  const auto add = [&]<class T>(const auto& mask, T) {
    if constexpr (std::is_same_v<T, bool>) {
      hidden = hidden + map([](bool b) { return b ? 1.0F : 0.0F; }, mask);
    } else {
      bias = bias + mask;
    }
  };
  const auto read = [&]<class T>(T type) {
    if (r.rank("attn_mask") == 3) {  // the heads of one batch stand after those of another
      add(split<batch, heads>(r.get<T, merged<batch, heads>, seq, K>("attn_mask", h)), type);
    } else {
      add(r.get<T, seq, K>("attn_mask"), type);
    }
  };
  if (r.has("attn_mask")) { r.dtype("attn_mask") == "bool" ? read(bool()) : read(float()); }
  if (r.has("key_padding_mask")) {
    add(r.stretched<bool>("key_padding_mask", batch{extent_of<batch>(x)}, keys), bool());
  }
  const tensor visible = map([](float count) { return count == 0; }, hidden);
  attend<batch>(r, [&](const char* name, const auto& y) { r.expect(name, y); }, attention, x, memory, values, bias,
                allow(visible));
}

// An input as [batch, P, F], however it is stored; one sequence is a batch of one.
template <class P, class F>
tensor<float, batch, P, F> batched(run& r, const char* name) {
  if (r.rank(name) == 2) { return broadcast<batch>(r.get<float, P, F>(name), batch{1}); }
  if (r.flag("batch_first", true)) { return r.get<float, batch, P, F>(name); }
  return r.get<float, P, batch, F>(name);
}

template <class... Options>
void with_module(run& r) {
  using module = nn::multi_head_attention<d_model, heads, d_k, d_v, Options...>;
  const heads h{r.integer("num_heads")};
  module attention;
  load(r, "", h, attention);
  const auto x = batched<seq, d_model>(r, "query");
  const auto with = [&](const auto& memory, const auto& values) {
    if constexpr (sizeof...(Options) == 0) {
      if (!r.has("attn_mask") || r.rank("attn_mask") == 2) { return attend_masked(r, attention, x, memory, values); }
    }
    attend_spread(r, h, attention, x, memory, values);
  };
  if (r.has("key")) {
    with(batched<source, typename module::key_features>(r, "key"),
         batched<source, typename module::value_features>(r, "value"));
  } else if constexpr (std::is_same_v<typename module::key_features, d_model> &&
                       std::is_same_v<typename module::value_features, d_model>) {
    const tensor there = rename<seq, key>(x);
    with(there, there);
  }
}

// One sequence, without a batch.
void one_sequence(run& r) {
  nn::self_attention<seq, key, nn::multi_head_attention<d_model, heads, d_k, d_v>> attention;
  load(r, "", heads{r.integer("num_heads")}, attention);
  const auto x = r.get<float, seq, d_model>("query");
  r.expect("attn_output", attention(x));
  if (r.wants("attn_output_weights") && r.flag("average_attn_weights", true)) {
    r.expect("attn_output_weights", mean<heads>(attention.weights(x)));
  }
}

void mha(run& r) {
  const bool own_features = r.has("k_proj_weight");
  const bool learned_key = r.flag("add_bias_kv", false);
  const bool zero_key = r.flag("add_zero_attn", false);
  if (!r.flag("bias", true)) {
    own_features ? with_module<nn::no_bias, nn::keys_from<k_model>, nn::values_from<v_model>>(r)
                 : with_module<nn::no_bias>(r);
  } else if (own_features) {
    with_module<nn::keys_from<k_model>, nn::values_from<v_model>>(r);
  } else if (learned_key) {
    zero_key ? with_module<nn::bias_kv, nn::zero_attn>(r) : with_module<nn::bias_kv>(r);
  } else if (zero_key) {
    with_module<nn::zero_attn>(r);
  } else if (r.rank("query") == 2 && !r.has("key") && !r.has("attn_mask") && !r.has("key_padding_mask") &&
             r.flag("average_attn_weights", true)) {
    one_sequence(r);
  } else {
    with_module<>(r);
  }
}

const family mha_cases{"mha", mha};

}  // namespace
}  // namespace conformance::torch
