// tests/conformance/torch/latent.cpp -- multi-head latent attention with PyTorch's weights, which are [out, in].
// SPDX-License-Identifier: BSL-1.0
#include "conformance/case.hpp"

namespace conformance::torch {
namespace {

using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_model : feature_dim<> {};
struct heads : heads_dim<> {};
struct content : feature_dim<> {};
struct rot : feature_dim<> {};
struct latent : feature_dim<> {};
struct d_v : feature_dim<> {};

void latent_attention(run& r) {
  const heads h{r.integer("heads")};
  const content c{r.integer("qk_nope_head_dim")};
  const rot t{r.integer("qk_rope_head_dim")};
  const latent l{r.integer("kv_lora_rank")};
  const d_v v{r.integer("v_head_dim")};
  nn::latent_attention<d_model, heads, content, rot, d_v, latent> attention;
  attention.query.weight =
      split<heads, summed<content, rot>>(r.get<float, merged<heads, summed<content, rot>>, d_model>("q_proj", h, c, t));
  attention.compress.weight = r.get<float, summed<latent, rot>, d_model>("kv_a_proj", l, t);
  attention.norm.gamma = r.get<float, latent>("kv_a_norm");
  attention.norm.epsilon = r.number("rms_eps", 1e-6);
  attention.expand.weight = split<heads, summed<content, d_v>>(
      r.get<float, merged<heads, summed<content, d_v>>, latent>("kv_b_proj", h, c, v));
  attention.output.weight = split<heads, d_v>(r.get<float, d_model, merged<heads, d_v>>("o_proj", h, v));
  const auto x = r.get<float, batch, seq, d_model>("x");
  const auto there = rename<seq, key>(x);
  r.expect("out", attention(x, there, causal<seq, key>{}));
  if (r.wants("compressed_kv")) { r.expect("compressed_kv", attention.compressed(there).latent); }
  if (r.wants("k_rope")) { r.expect("k_rope", attention.compressed(there).key); }
}
const family latent_cases{"mla", latent_attention};

}  // namespace
}  // namespace conformance::torch
