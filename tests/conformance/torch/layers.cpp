// tests/conformance/torch/layers.cpp -- nn.TransformerEncoderLayer and nn.TransformerDecoderLayer.
// SPDX-License-Identifier: BSL-1.0
#include "modules.hpp"

namespace conformance::torch {
namespace {

using attention = nn::multi_head_attention<d_model, heads, d_k, d_v>;
using own = nn::self_attention<seq, key, attention>;
using memory = nn::cross_attention<seq, source, attention>;
using norm = nn::layer_norm<d_model>;

void encoder_layer(run& r) {
  const heads h{r.integer("nhead")};
  with_activation(r, [&]<class F>(F) {
    with_order(r, [&]<class Order>(Order) {
      nn::encoder_layer<own, nn::feed_forward<d_model, hidden, F>, norm, Order> layer;
      load(r, "", h, layer);
      const auto x = r.get<float, batch, seq, d_model>("src");
      with_masks<seq, key>(r, "attn_mask_src", "src_key_padding_mask",
                           [&](const auto&... how) { r.expect("out", layer(x, how...)); });
    });
  });
}
const family encoder_layer_cases{"encoder_layer", encoder_layer};

void decoder_layer(run& r) {
  const heads h{r.integer("nhead")};
  with_activation(r, [&]<class F>(F) {
    with_order(r, [&]<class Order>(Order) {
      nn::decoder_layer<own, memory, nn::feed_forward<d_model, hidden, F>, norm, Order> layer;
      load(r, "", h, layer);
      const auto x = r.get<float, batch, seq, d_model>("tgt");
      const auto there = r.get<float, batch, source, d_model>("memory");
      with_mask<seq, key>(r, "attn_mask_tgt", [&](const auto&... how) {
        with_padding<source>(r, "memory_key_padding_mask", [&](const auto&... memory_how) {
          r.expect("out", layer(x, there, nn::each(how...), nn::each(memory_how...)));
        });
      });
    });
  });
}
const family decoder_layer_cases{"decoder_layer", decoder_layer};

}  // namespace
}  // namespace conformance::torch
