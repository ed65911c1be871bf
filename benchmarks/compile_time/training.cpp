// SPDX-License-Identifier: BSL-1.0
// benchmarks/compile_time/training.cpp -- a GPT whose loss is computed; with -DTRAINS, a step of training it.
#include <dimwise/dimwise.hpp>
#if defined(TRAINS)
#include <dimwise/grad.hpp>
#else
#include <dimwise/grad/loss.hpp>
#endif
#include <dimwise/nn.hpp>

using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct words : choice_dim<256> {};
struct d_model : feature_dim<64> {};
struct heads : heads_dim<4> {};
struct hidden : feature_dim<256> {};
struct d_k : divided<d_model, heads> {};
struct d_v : divided<d_model, heads> {};

template <class T = float>
struct gpt {
  using attention = nn::multi_head_attention<d_model, heads, d_k, d_v, nn::elements<T>>;
  using feed_forward = nn::feed_forward<d_model, hidden, nn::activation::gelu_tanh, nn::with_bias, T>;
  using norm = nn::layer_norm<d_model, nn::elements<T>>;
  using layer = nn::encoder_layer<nn::self_attention<seq, key, attention>, feed_forward, norm, nn::pre_norm>;
  using table = nn::embedding<words, d_model, T>;
  using positions_table = nn::learned_positions<seq, d_model, T>;
  using stack = nn::stack<layer, norm>;
  BOOST_HANA_DEFINE_STRUCT(gpt, (table, letters), (positions_table, positions), (stack, layers));

  [[nodiscard]] auto operator()(const tensor<id<words>, batch, seq>& text) const {
    const tensor x = positions(letters(text));
    return letters.logits(layers(x, causal<seq, key>{}));
  }
};

#if defined(TRAINS)
double step(gpt<>& model, adamw<gpt<>>& optimiser, const tensor<id<words>, batch, seq>& text) {
  const auto [loss, gradient] =
      value_and_gradient(model, [&](const auto& m) { return next_word_loss<seq>(m(text), text); });
  optimiser.step(model, gradient);
  return static_cast<double>(loss);
}
#else
double loss_of(const gpt<>& model, const tensor<id<words>, batch, seq>& text) {
  return static_cast<double>(next_word_loss<seq>(model(text), text).value());
}
#endif
