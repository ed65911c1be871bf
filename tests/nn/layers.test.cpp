// tests/nn/layers.test.cpp -- layers and models: each is the formula that its paper has, in the language.
// SPDX-License-Identifier: BSL-1.0
#include "modules.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace modules {

using attention = nn::multi_head_attention<d_model, heads, d_k, d_v>;
using own = nn::self_attention<seq, key, attention>;
using cross = nn::cross_attention<seq, src, attention>;
using feed = nn::feed_forward<d_model, hidden, nn::activation::gelu>;
using norm = nn::layer_norm<d_model>;
using state = tensor<float, batch, seq, d_model>;

const auto x = drawn<state>(1, batch{2}, seq{5});
const auto memory = drawn<tensor<float, batch, src, d_model>>(2, batch{2}, src{4});
const tensor<int, batch> lengths({4, 2}, batch{2});

TEST_CASE("encoder layers: norm behind the residual, or within it") {
  const auto post = drawn_module<nn::encoder_layer<own, feed, norm>>(3);
  const state a = post.norm1(x + post.attention(x, causal<seq, key>{}));
  CHECK(differ<state>(post(x, causal<seq, key>{}), post.norm2(a + post.feed_forward(a)), float32(20)) == "");

  const auto pre = drawn_module<nn::encoder_layer<own, feed, norm, nn::pre_norm>>(5);
  const state b = x + pre.attention(pre.norm1(x), causal<seq, key>{});
  CHECK(differ<state>(pre(x, causal<seq, key>{}), b + pre.feed_forward(pre.norm2(b)), float32(20)) == "");
}

TEST_CASE("layers and heads without a norm") {
  const auto layer = drawn_module<nn::encoder_layer<own, feed, nn::no_norm>>(4);
  const state a = x + layer.attention(x);
  CHECK(differ<state>(layer(x), a + layer.feed_forward(a), float32(20)) == "");

  const auto plain_heads = drawn_module<attention>(6);
  const nn::multi_head_attention<d_model, heads, d_k, d_v, nn::normalised_heads<nn::no_norm>> unnormed{
      plain_heads.query, plain_heads.key, plain_heads.value, plain_heads.output, {}, {}, {}, {}};
  CHECK(differ<state>(unnormed(x, memory, memory), plain_heads(x, memory, memory)) == "");
}

TEST_CASE("decoder layers attend to themselves, then to the memory; each mask goes to its attention") {
  const auto layer = drawn_module<nn::decoder_layer<own, cross, feed, norm, nn::pre_norm>>(7);
  const state a = x + layer.attention(layer.norm1(x), causal<seq, key>{});
  const state b = a + layer.memory_attention(layer.norm2(a), memory, padding<src>(lengths));
  const state expected = b + layer.feed_forward(layer.norm3(b));
  CHECK(differ<state>(layer(x, memory, causal<seq, key>{}, padding<src>(lengths)), expected, float32(20)) == "");
  CHECK(differ<state>(layer(x, memory, nn::each(causal<seq, key>{}), nn::each(padding<src>(lengths))), expected,
                      float32(20)) == "");
}

TEST_CASE("stacks apply their layers in order, and a last norm") {
  using layer = nn::encoder_layer<own, feed, norm, nn::pre_norm>;
  const nn::stack<layer, norm> all{{drawn_module<layer>(11), drawn_module<layer>(13)}, drawn_module<norm>(15)};
  CHECK(differ<state>(all(x), all.norm(all.layers[1](all.layers[0](x))), float32(20)) == "");
  CHECK(differ<state>(nn::stack<layer>{}(x), x) == "");
}

TEST_CASE("what is given as an expression is computed once") {
  struct gates : feature_dim<3> {};
  std::size_t computed = 0;
  const auto counted = [&computed](const auto& y) { return map([&computed](float v) { return ++computed, v; }, y); };
  const auto count_of = [&computed](const auto& call) {
    computed = 0;
    (void)call();
    return computed;
  };
  const auto attend_own = drawn_module<own>(31);
  const auto attend_memory = drawn_module<cross>(33);
  const auto encodes = drawn_module<nn::encoder_layer<own, feed, norm>>(35);
  const auto encodes_normed = drawn_module<nn::encoder_layer<own, feed, norm, nn::pre_norm>>(35);
  const auto decodes = drawn_module<nn::decoder_layer<own, cross, feed, norm>>(37);
  const nn::stack<nn::decoder_layer<own, cross, feed, norm>> all{{decodes, decodes, decodes}, {}};
  const auto gated = drawn_module<nn::gated_feed_forward<d_model, hidden>>(39);
  const auto cell = drawn_module<nn::gru_cell<d_model, gates>>(41);
  const auto state_before = drawn<tensor<float, batch, seq, gates>>(43, batch{2}, seq{5});

  CHECK(count_of([&] { return attend_own(counted(x)); }) == x.size());
  CHECK(count_of([&] { return attend_own(permute<seq, batch, d_model>(counted(x))); }) == x.size());
  CHECK(count_of([&] { return attend_own.weights(counted(x)); }) == x.size());
  CHECK(count_of([&] { return attend_memory(counted(x), counted(memory)); }) == x.size() + memory.size());
  CHECK(count_of([&] { return encodes(counted(x)); }) == x.size());
  CHECK(count_of([&] { return encodes_normed(counted(x)); }) == x.size());
  CHECK(count_of([&] { return decodes(counted(x), counted(memory)); }) == x.size() + memory.size());
  CHECK(count_of([&] { return all(counted(x), counted(memory)); }) == x.size() + memory.size());
  CHECK(count_of([&] { return gated(counted(x)); }) == x.size());
  CHECK(count_of([&] { return cell(counted(x), counted(state_before)); }) == x.size() + state_before.size());
  CHECK(differ<state>(encodes(counted(x)), encodes(x)) == "");
  // What is memory already is not copied.
  CHECK(&nn::detail::functions::materialised(x) == &x);
  const auto renamed = rename<seq, key>(x);
  CHECK(&nn::detail::functions::materialised(renamed) == &renamed);
}

// A module of a user's own: a call operator, and no formula.
struct halved {
  template <operand X>
  auto operator()(const X& whole) const {
    return tensor(whole * 0.5F);
  }
};

TEST_CASE("a part of a user's own is called") {
  using layer = nn::encoder_layer<own, feed, norm>;
  const nn::stack<layer, halved> model{{drawn_module<layer>(31)}, {}};
  CHECK(differ<state>(model(x), state(model.layers[0](x) * 0.5F)) == "");
}

TEST_CASE("an encoder's layers take several changes of scores as one, too") {
  using layer = nn::encoder_layer<own, feed, norm>;
  const nn::stack<layer> model{{drawn_module<layer>(31), drawn_module<layer>(33)}, {}};
  const window<seq, key> near(2, 1);
  CHECK(differ<state>(model(x, nn::each(near, causal<seq, key>{})), state(model(x, near, causal<seq, key>{}))) == "");
  CHECK(differ<state>(model(x, nn::each<>()), state(model(x))) == "");
}

TEST_CASE("an encoder and a decoder, with a mask for each attention") {
  using encoder = nn::encoder_layer<nn::self_attention<src, src_key, attention>, feed, norm>;
  using decoder = nn::decoder_layer<own, cross, feed, norm>;
  const nn::encoder_decoder<nn::stack<encoder>, nn::stack<decoder>> model{{{drawn_module<encoder>(17)}, {}},
                                                                          {{drawn_module<decoder>(19)}, {}}};
  const auto encoded = model.encoder(memory, padding<src_key>(lengths));
  CHECK(differ<state>(model(memory, x, padding<src_key>(lengths), causal<seq, key>{}, padding<src>(lengths)),
                      model.decoder(x, encoded, causal<seq, key>{}, padding<src>(lengths)), float32(20)) == "");
}

TEST_CASE("the paper's transformer: scaled embedding, sinusoids, layers, tied output") {
  using layer = nn::encoder_layer<own, feed, norm>;
  const nn::transformer<vocab, seq, d_model, nn::stack<layer>> model{drawn_module<nn::embedding<vocab, d_model>>(21),
                                                                     {{drawn_module<layer>(23)}, {}}};
  const auto ids = drawn_ids<tensor<id<vocab>, batch, seq>>(25, 7, batch{2}, starting_at(seq{4}, 3));
  const auto& E = model.words.table;
  const state first = gather<vocab>(E, ids) * std::sqrt(8.0F) + sinusoid<seq, d_model>(starting_at(seq{4}, 3));
  const state last = model.layers(first, causal<seq, key>{});
  CHECK(differ<state>(model.features(ids, causal<seq, key>{}), last, float32(20)) == "");
  const tensor<float, batch, seq, vocab, normalised<vocab>> words = softmax<vocab>(contract<d_model>(last, E));
  CHECK(differ(model(ids, causal<seq, key>{}), words, float32(40)) == "");
}

TEST_CASE("latent attention: cached vectors give what whole positions give") {
  struct content : feature_dim<4> {};
  struct rot : feature_dim<2> {};
  struct latent : feature_dim<3> {};
  const auto attention_of_few = drawn_module<nn::latent_attention<d_model, heads, content, rot, d_v, latent>>(27);
  const auto there = rename<seq, key>(x);
  const auto& m = attention_of_few;
  const tensor q = m.query(x);
  const tensor c = m.norm(part<latent>(m.compress(there)));
  const tensor kv = m.expand(c);
  const auto s = contract<content>(part<content>(q), part<content>(kv)) +
                 contract<rot>(rotary<seq, rot>(part<rot>(q)), rotary<key, rot>(part<rot>(m.compress(there))));
  const auto z = contract<key>(softmax<key>(masked(scaled(s, 1 / std::sqrt(6.0F)), causal<seq, key>{})), part<d_v>(kv));
  CHECK(differ<state>(m(x, there, causal<seq, key>{}), m.output(tensor(z)), float32(20)) == "");
  CHECK(differ<state>(m.attend(x, m.compressed(there), causal<seq, key>{}), m(x, there, causal<seq, key>{})) == "");
}

}  // namespace modules
