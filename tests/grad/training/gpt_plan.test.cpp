// SPDX-License-Identifier: BSL-1.0
// A whole step of training of a small GPT, the model of examples/23_train_gpt.cpp, runs no plain plan, has the same
// bits for every executor and after a resume, and agrees with the reference loops.
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct bytes : choice_dim<256> {};
struct d_model : feature_dim<48> {};
struct heads : heads_dim<3> {};
struct d_k : divided<d_model, heads> {};
struct d_v : divided<d_model, heads> {};
struct hidden : feature_dim<96> {};

template <class T = float>
struct gpt {
  using attention = nn::multi_head_attention<d_model, heads, d_k, d_v, nn::elements<T>>;
  using feed_forward = nn::feed_forward<d_model, hidden, nn::activation::gelu_tanh, nn::with_bias, T>;
  using norm = nn::layer_norm<d_model, nn::elements<T>>;
  using layer = nn::transformer_block<nn::self_attention<seq, key, attention>, feed_forward, norm, nn::pre_norm>;
  using table = nn::embedding<bytes, d_model, T>;
  using positions_table = nn::learned_positions<seq, d_model, T>;
  using stack = nn::stack<layer, norm>;
  BOOST_HANA_DEFINE_STRUCT(gpt, (table, words), (positions_table, positions), (stack, layers));

  [[nodiscard]] auto operator()(const tensor<id<bytes>, batch, seq>& text) const {
    const tensor x = positions(words(text));
    return words.logits(layers(x, causal<seq, key>{}));
  }
};

constexpr std::size_t length = 40;

gpt<> fresh() {
  gpt<> model;
  model.layers = gpt<>::stack::of(2);
  nn::normal how(1, 0.1);
  nn::initialise(model, how, seq{length});
  return model;
}
tensor<id<bytes>, batch, seq> text_of(std::size_t step) {
  std::vector<std::size_t> words;
  for (std::size_t i = 0; i < 3 * length; ++i) { words.push_back((i * i + 7 * step) % 256); }
  return tensor<id<bytes>, batch, seq>(words, batch{3}, seq{length});
}
auto loss_of(const tensor<id<bytes>, batch, seq>& words) {
  return [words](const auto& m) { return next_word_loss<seq>(m(words), words); };
}
// Some steps of a training whose state was taken up again before each of them.
gpt<> trained(std::size_t steps) {
  gpt<> model = fresh();
  adam_state<gpt<>> state = adamw(model).state;
  for (std::size_t i = 0; i < steps; ++i) {
    adamw optimiser(model, {.rate = 0.01, .weight_decay = 0.1});
    optimiser.state = state;
    optimiser.step(model, clip_norm(gradient(model, loss_of(text_of(i))), 1.0));
    state = optimiser.state;
  }
  return model;
}

struct backwards {
  [[nodiscard]] static std::size_t worker_count() { return 3; }
  template <class F>
  void parallel_for(std::size_t count, F&& f) const {
    for (std::size_t i = count; i-- > 0;) { f(i, i % 3); }
  }
};

}  // namespace

TEST_CASE("a step of a GPT runs no plain plan") {
  gpt<> model = fresh();
  adamw optimiser(model, {.rate = 0.01, .weight_decay = 0.1});
  context cx;
  const use_context scope(cx);
  const auto [value, g] = value_and_gradient(model, loss_of(text_of(0)));
  optimiser.step(model, clip_norm(g, 1.0));
  CHECK(cx.counts()[plan_kind::plain] == 0);
  CHECK(cx.counts()[plan_kind::attention] == 4);
  CHECK(cx.counts()[plan_kind::map] > 0);
  CHECK(value == doctest::Approx(std::log(256.0)).epsilon(0.2));
}

TEST_CASE("the gradient of a GPT agrees with the reference loops") {
  const auto model = fresh();
  const auto fast = gradient(model, loss_of(text_of(0)));
  const auto precise = [&] {
    const plain_loops only;
    return gradient(model, loss_of(text_of(0)));
  }();
  for_each_parameter_of([](const std::string& name, const auto& a, const auto& b) {
    INFO(name);
    double largest = 0;
    double worst = 0;
    for (std::size_t i = 0; i < b.size(); ++i) { largest = std::max(largest, std::abs(double(b.data()[i]))); }
    for (std::size_t i = 0; i < a.size(); ++i) { worst = std::max(worst, std::abs(double(a.data()[i] - b.data()[i]))); }
    // Sums of 120 positions and up to 96 features, in float32 both times.
    CHECK(worst <= 2e-5 * largest + 1e-7);
  }, fast, precise);
}

TEST_CASE("steps of a GPT have the same bits for every executor, and with a state that was taken up again") {
  const auto resumed = trained(2);
  const auto same = [&](const gpt<>& other) {
    bool all = true;
    for_each_parameter_of([&](const std::string&, const auto& a, const auto& b) {
      all = all && std::equal(a.data(), a.data() + a.size(), b.data());
    }, resumed, other);
    return all;
  };
  gpt<> straight = fresh();
  CHECK(!same(straight));
  adamw optimiser(straight, {.rate = 0.01, .weight_decay = 0.1});
  for (std::size_t i = 0; i < 2; ++i) {
    optimiser.step(straight, clip_norm(gradient(straight, loss_of(text_of(i))), 1.0));
  }
  CHECK(same(straight));
  backwards executor;
  context cx(executor);
  const use_context scope(cx);
  CHECK(same(trained(2)));
}
