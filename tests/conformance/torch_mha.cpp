// tests/conformance/torch_mha.cpp -- nn.MultiheadAttention: self and cross, in every layout, with masks and returned weights.
// SPDX-License-Identifier: BSL-1.0
#include "torch_modules.hpp"

namespace conformance::torch {
namespace {

// The dimensions before the positions: a batch, or none.
template <class... D>
struct before {};

// PyTorch averages weights over heads unless told otherwise: [batch, Q, K], or [batch, heads, Q, K].
template <class... Batch, class Module, class X, class M, class... How>
void weights(run& r, before<Batch...>, const Module& attention, const X& x, const M& memory, const How&... how) {
  if (!r.wants("attn_output_weights")) { return; }
  using K = nn::detail::positions_of_t<M>;
  const tensor w = attention.weights(x, memory, how...);
  if (r.flag("average_attn_weights", true)) {
    r.expect("attn_output_weights", permute<Batch..., seq, K>(mean<heads>(w)));
  } else {
    r.expect("attn_output_weights", permute<Batch..., heads, seq, K>(w));
  }
}

// Without masks, in the memory order of the inputs.
template <class Batch, class Module, class X, class M, class V>
void attend(run& r, Batch batch_dims, const Module& attention, const X& x, const M& memory, const V& values) {
  r.expect("attn_output", attention(x, memory, values));
  weights(r, batch_dims, attention, x, memory);
}

// With masks, each sequence of a batch.
template <class Module, class X, class M, class V>
void attend_masked(run& r, heads h, const Module& attention, const X& x, const M& memory, const V& values) {
  using K = nn::detail::positions_of_t<M>;
  const bool batch_first = r.rank("query") == 2 || r.flag("batch_first", true);
  const auto with = [&](const auto&... how) {
    const tensor y = attention(x, memory, values, how...);
    batch_first ? r.expect("attn_output", y) : r.expect("attn_output", permute<seq, batch, d_model>(y));
    weights(r, before<batch>(), attention, x, memory, how...);
  };
  // One mask for each head of each batch, the heads of one batch after those of another.
  if (r.has("attn_mask") && r.rank("attn_mask") == 3) {
    const auto given = [&]<class T>(T) { return tensor(split<batch, heads>(r.get<T, merged<batch, heads>, seq, K>("attn_mask", h))); };
    if (r.dtype("attn_mask") == "bool") {
      with_padding<K>(r, "key_padding_mask", with, block(given(bool())));
    } else {
      with_padding<K>(r, "key_padding_mask", with, given(float()));
    }
  } else {
    with_masks<seq, K>(r, "attn_mask", "key_padding_mask", with);
  }
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
  constexpr bool same_features = std::is_same_v<typename module::key_features, d_model> && std::is_same_v<typename module::value_features, d_model>;
  const heads h{r.integer("num_heads")};
  module attention;
  load(r, "", h, attention);
  const bool masks = r.has("attn_mask") || r.has("key_padding_mask");
  if (r.has("key")) {
    attend_masked(r, h, attention, batched<seq, d_model>(r, "query"), batched<source, typename module::key_features>(r, "key"),
                  batched<source, typename module::value_features>(r, "value"));
  } else if constexpr (same_features) {
    if (masks) {
      const auto x = batched<seq, d_model>(r, "query");
      const tensor there = rename<seq, key>(x);
      attend_masked(r, h, attention, x, there, there);
    } else {
      const auto with = [&](auto batch_dims, const auto& x) {
        const tensor there = rename<seq, key>(x);
        attend(r, batch_dims, attention, x, there, there);
      };
      if (r.rank("query") == 2) {
        with(before<>(), r.get<float, seq, d_model>("query"));
      } else if (r.flag("batch_first", true)) {
        with(before<batch>(), r.get<float, batch, seq, d_model>("query"));
      } else {
        with(before<batch>(), r.get<float, seq, batch, d_model>("query"));
      }
    }
  }
}

void mha(run& r) {
  const bool learned_key = r.flag("add_bias_kv", false);
  const bool zero_key = r.flag("add_zero_attn", false);
  if (learned_key) { return zero_key ? with_module<nn::bias_kv, nn::zero_attn>(r) : with_module<nn::bias_kv>(r); }
  if (zero_key) { return with_module<nn::zero_attn>(r); }
  const bool own_features = r.has("k_proj_weight");
  if (!r.flag("bias", true)) {
    own_features ? with_module<nn::no_bias, nn::keys_from<k_model>, nn::values_from<v_model>>(r) : with_module<nn::no_bias>(r);
  } else {
    own_features ? with_module<nn::keys_from<k_model>, nn::values_from<v_model>>(r) : with_module<>(r);
  }
}

const family mha_cases{"mha", mha};

}  // namespace
}  // namespace conformance::torch
