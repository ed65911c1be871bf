// SPDX-License-Identifier: BSL-1.0
// benchmarks/compile_time/training.cpp -- a GPT whose loss is computed; with -DTRAINS, a step of training it.
#include "../training/gpt.hpp"
#if defined(TRAINS)
#include <dimwise/grad.hpp>
#else
#include <dimwise/grad/loss.hpp>
#endif

using namespace bench;

struct words : choice_dim<256> {};
struct d_model : feature_dim<64> {};
struct heads : heads_dim<4> {};
struct hidden : feature_dim<256> {};
using model_type = sizes<words, d_model, heads, hidden>::gpt<>;
using text_type = tensor<id<words>, batch, seq>;

#if defined(TRAINS)
double step(model_type& model, adamw<model_type>& optimiser, const text_type& text) {
  const auto [loss, gradient] =
      value_and_gradient(model, [&](const auto& m) { return next_word_loss<seq>(m(text), text); });
  optimiser.step(model, gradient);
  return static_cast<double>(loss);
}
#else
double loss_of(const model_type& model, const text_type& text) {
  return static_cast<double>(next_word_loss<seq>(model(text), text).value());
}
#endif
