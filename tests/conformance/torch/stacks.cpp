// tests/conformance/torch/stacks.cpp -- whole models: an encoder from ids, and nn.Transformer.
// SPDX-License-Identifier: BSL-1.0
#include "modules.hpp"

#include <cmath>
#include <stdexcept>

namespace conformance::torch {
namespace {

using attention = nn::multi_head_attention<d_model, heads, d_k, d_v>;
using norm = nn::layer_norm<d_model>;

// Words and positions: the embedding times √d_model, plus sinusoids or a learned table.
tensor<float, batch, seq, d_model> embedded(run& r) {
  const nn::embedding<vocab, d_model> words{r.get<float, vocab, d_model>("embed.weight")};
  const auto found = words(r.get<id<vocab>, batch, seq>("ids"));
  const std::string scale = r.text("embedding_scale", "");
  const float factor = scale == "sqrt(d_model)" ? std::sqrt(static_cast<float>(extent_of<d_model>(found))) : 1.0F;
  const std::string positions = r.text("positions", "none");
  if (positions == "learned") {
    return nn::learned_positions<seq, d_model>{r.get<float, seq, d_model>("pos.weight")}(found * factor);
  }
  if (positions.starts_with("sinusoidal")) {
    return found * factor + sinusoid<seq, d_model>(seq{extent_of<seq>(found)}, d_model{extent_of<d_model>(found)});
  }
  if (positions == "none") { return found * factor; }
  throw std::runtime_error("positions " + positions + " are unknown");
}

void encoder_stack(run& r) {
  const heads h{r.integer("nhead")};
  const auto x = embedded(r);
  with_activation(r, [&]<class F>(F) {
    with_order(r, [&]<class Order>(Order) {
      using layer =
          nn::encoder_layer<nn::self_attention<seq, key, attention>, nn::feed_forward<d_model, hidden, F>, norm, Order>;
      const auto with = [&]<class Last>(Last) {
        nn::stack<layer, Last> encoder;
        load(r, "encoder.", h, encoder);
        with_padding<key>(r, "key_padding_mask", [&](const auto&... how) { r.expect("out", encoder(x, how...)); });
      };
      if (r.flag("final_norm", false)) {
        with(norm());
      } else {
        with(nn::no_norm());
      }
    });
  });
}
const family encoder_stack_cases{"encoder_stack", encoder_stack};

void encoder_decoder(run& r) {
  const heads h{r.integer("nhead")};
  with_activation(r, [&]<class F>(F) {
    with_order(r, [&]<class Order>(Order) {
      using feed_forward = nn::feed_forward<d_model, hidden, F>;
      using encoder = nn::encoder_layer<nn::self_attention<source, source_key, attention>, feed_forward, norm, Order>;
      using decoder = nn::decoder_layer<nn::self_attention<seq, key, attention>,
                                        nn::cross_attention<seq, source, attention>, feed_forward, norm, Order>;
      nn::encoder_decoder<nn::stack<encoder, norm>, nn::stack<decoder, norm>> model;
      load(r, "encoder.", h, model.encoder);
      load(r, "decoder.", h, model.decoder);
      const auto from = r.get<float, batch, source, d_model>("src");
      const auto to = r.get<float, batch, seq, d_model>("tgt");
      with_padding<source_key>(r, "src_key_padding_mask", [&](const auto&... source_how) {
        with_mask<seq, key>(r, r.has("attn_mask_tgt") ? "attn_mask_tgt" : "tgt_mask", [&](const auto&... how) {
          with_padding<source>(r, "memory_key_padding_mask", [&](const auto&... memory_how) {
            r.expect("out", model(from, to, nn::each(source_how...), nn::each(how...), nn::each(memory_how...)));
          });
        });
      });
    });
  });
}
const family encoder_decoder_cases{"encoder_decoder", encoder_decoder};

}  // namespace
}  // namespace conformance::torch
