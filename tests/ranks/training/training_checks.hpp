// tests/ranks/training/training_checks.hpp -- steps of a small GPT on the ranks of any backend, bit for bit equal to
// those of one rank that accumulates the ranks' batches in their order.
//
// Every rank also computes the steps of one rank, so nothing here depends on messages but the calls under test.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks.hpp>
#include <dimwise/ranks/training.hpp>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace training_checks {

using namespace dimwise;

struct dp : mesh_axis<> {};
struct examples : batch_dim<> {};
using examples_here = shard<examples, dp>;
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct letters : choice_dim<11> {};
struct d_model : feature_dim<8> {};
struct heads : heads_dim<2> {};
struct d_k : divided<d_model, heads> {};
struct d_v : divided<d_model, heads> {};
struct hidden : feature_dim<12> {};

template <class T = float>
struct gpt {
  using attention = nn::multi_head_attention<d_model, heads, d_k, d_v, nn::elements<T>>;
  using feed_forward = nn::feed_forward<d_model, hidden, nn::activation::gelu_tanh, nn::with_bias, T>;
  using norm = nn::layer_norm<d_model, nn::elements<T>>;
  using layer = nn::transformer_block<nn::self_attention<seq, key, attention>, feed_forward, norm, nn::pre_norm>;
  using table = nn::embedding<letters, d_model, T>;
  using positions_table = nn::learned_positions<seq, d_model, T>;
  using stack = nn::stack<layer, norm>;
  table words;
  positions_table positions;
  stack layers;
  using members = nn::member_list<&gpt::words, &gpt::positions, &gpt::layers>;

  template <class Batch>
  [[nodiscard]] auto operator()(const tensor<id<letters>, Batch, seq>& text) const {
    const tensor x = positions(words(text));
    return words.logits(layers(x, causal<seq, key>{}));
  }
};

constexpr std::size_t longest = 32;

inline gpt<> fresh() {
  gpt<> model;
  model.layers = gpt<>::stack::of(2);
  nn::normal how(1, 0.3);
  nn::initialise(model, how, seq{longest});
  return model;
}

// The batch of a rank in a step: ranks have other numbers of examples and of tokens.
template <class Batch>
tensor<id<letters>, Batch, seq> batch_of(std::size_t step, std::size_t rank) {
  tensor<id<letters>, Batch, seq> tokens(Batch{1 + rank % 2}, seq{4 + 4 * rank});
  nn::random draw(1000 * step + rank);
  auto* const to = tokens.overwrite();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    to[i] = id<letters>(static_cast<std::size_t>(draw.uniform() * 11));
  }
  return tokens;
}
template <class Batch>
auto loss_of(std::size_t step, std::size_t rank) {
  return [tokens = batch_of<Batch>(step, rank)](const auto& m) { return next_word_loss<seq>(m(tokens), tokens); };
}

inline void expect(bool is_right, const std::string& what) {
  if (!is_right) { throw std::runtime_error("wrong: " + what); }
}
template <class M>
void expect_same(const M& a, const M& b, const std::string& what) {
  for_each_parameter_of([&](const std::string& name, const auto& p, const auto& q) {
    const std::size_t bytes = p.size() * sizeof(*p.data());
    expect(p.size() == q.size() && std::memcmp(p.data(), q.data(), bytes) == 0, what + ", parameter " + name);
  }, a, b);
}

// One rank: the batches of `ranks` ranks, in their order.
inline auto mean_of_one_rank(const gpt<>& model, std::size_t step, std::size_t ranks) {
  accumulated total(model);
  for (std::size_t r = 0; r < ranks; ++r) { total.add(loss_of<examples>(step, r)); }
  return total.mean();
}

constexpr std::size_t steps = 3;

// Gradients reduced after the backward pass and during it, whole optimisers.
inline void check_data_parallel(const ranks::communicator& world) {
  const ranks::mesh grid(world, dp{world.size()});
  gpt<> one = fresh(), after = fresh(), during = fresh();
  const adamw_settings how{.rate = 0.01, .weight_decay = 0.1};
  adamw step_one(one, how), step_after(after, how), step_during(during, how);
  for (std::size_t step = 0; step < steps; ++step) {
    const auto [loss, gradient] = mean_of_one_rank(one, step, world.size());
    const auto mine = loss_of<examples_here>(step, world.rank());
    const auto [loss_after, gradient_after] = all_reduce<dp>(value_and_gradient(after, mine), grid);
    const auto [loss_during, gradient_during] = value_and_gradient(during, mine, reduced<dp>(grid));
    expect(loss_after == loss && loss_during == loss, "the loss of step " + std::to_string(step));
    expect_same(gradient_after, gradient, "the gradient");
    expect_same(gradient_during, gradient, "the gradient that was reduced in the backward pass");
    expect_same(all_reduce<dp>(value_and_gradient(after, mine).gradient, grid), gradient, "the gradient alone");
    expect(norm_of(gradient_after, grid) == norm_of(gradient), "the norm of the gradient");
    step_one.step(one, clip_norm(gradient, 0.5));
    step_after.step(after, clip_norm(gradient_after, 0.5, grid));
    step_during.step(during, clip_norm(gradient_during, 0.5));
    expect_same(after, one, "the model after step " + std::to_string(step));
    expect_same(during, one, "the model after step " + std::to_string(step) + ", reduced in the backward pass");
  }
}

// Several batches of each rank, and one reduction.
inline void check_accumulated(const ranks::communicator& world) {
  const ranks::mesh grid(world, dp{world.size()});
  const gpt<> model = fresh();
  accumulated<gpt<>, dp> total(model);
  for (std::size_t batch = 0; batch < 3; ++batch) { total.add(loss_of<examples_here>(batch, world.rank())); }
  const auto [loss, gradient] = all_reduce<dp>(total.terms(), grid);
  // The same with the last batch reduced in its backward pass, and with one batch alone.
  accumulated<gpt<>, dp> before(model);
  for (std::size_t batch = 0; batch < 2; ++batch) { before.add(loss_of<examples_here>(batch, world.rank())); }
  const auto last = loss_of<examples_here>(2, world.rank());
  const auto during = value_and_gradient(before, last, reduced<dp>(grid));
  expect(during.value == loss, "the loss of several batches, reduced in the last backward pass");
  expect_same(during.gradient, gradient, "the gradient of several batches, reduced in the last backward pass");
  const auto alone = value_and_gradient(accumulated<gpt<>, dp>(model), last, reduced<dp>(grid));
  const auto expected = value_and_gradient(model, last, reduced<dp>(grid));
  expect(alone.value == expected.value, "the loss of a last batch alone");
  expect_same(alone.gradient, expected.gradient, "the gradient of a last batch alone");
  // One rank adds what each rank has added.
  gpt<> sum = model;
  double losses = 0, count = 0;
  for (std::size_t r = 0; r < world.size(); ++r) {
    accumulated<gpt<>> of_rank(model);
    for (std::size_t batch = 0; batch < 3; ++batch) { of_rank.add(loss_of<examples>(batch, r)); }
    accumulated<gpt<>, dp> terms(model);
    for (std::size_t batch = 0; batch < 3; ++batch) { terms.add(loss_of<examples_here>(batch, r)); }
    const auto own = terms.terms();
    for_each_parameter_of([&](const std::string&, auto& to, const auto& from) {
      for (std::size_t i = 0; i < to.size(); ++i) {
        to.overwrite()[i] = r == 0 ? from.data()[i] : to.data()[i] + from.data()[i];
      }
    }, sum, own.gradient.terms);
    losses += static_cast<double>(*own.value.data());
    count += of_rank.count();
  }
  expect(loss == static_cast<float>(losses * (1 / count)), "the loss of several batches");
  for_each_parameter_of([&](const std::string& name, const auto& g, const auto& s) {
    for (std::size_t i = 0; i < g.size(); ++i) {
      expect(g.data()[i] == s.data()[i] * static_cast<float>(1 / count), "the gradient of several batches, " + name);
    }
  }, gradient, sum);
}

// Optimisers of which each rank keeps a part: from terms and from the whole gradient, saved and resumed.
template <class Make, class MakeParts>
void check_optimiser(const ranks::communicator& world, const std::string& name, const Make& make,
                     const MakeParts& make_parts) {
  const ranks::mesh grid(world, dp{world.size()});
  gpt<> one = fresh(), terms = fresh(), whole = fresh();
  auto step_one = make(one);
  auto step_terms = make_parts(terms, grid);
  auto step_whole = make_parts(whole, grid);
  for (std::size_t step = 0; step < steps; ++step) {
    const auto gradient = mean_of_one_rank(one, step, world.size()).gradient;
    const auto mine = loss_of<examples_here>(step, world.rank());
    step_one.step(one, gradient);
    step_terms.step(terms, value_and_gradient(terms, mine).gradient);
    step_whole.step(whole, all_reduce<dp>(value_and_gradient(whole, mine).gradient, grid));
    expect_same(terms, one, name + ": the model after step " + std::to_string(step));
    expect_same(whole, one, name + ": the model after step " + std::to_string(step) + " of a whole gradient");
    if (step == 0) {  // go on from the state of the other one
      auto resumed = make_parts(terms, grid);
      resumed.set_state(step_whole.state(whole));
      step_terms = resumed;
    }
  }
  const auto state = step_terms.state(terms);
  const auto tensors_of = [](const auto& s) {
    std::vector<gpt<>> all;
    if constexpr (requires { s.velocity; }) {
      all = {s.velocity};
    } else {
      all = {s.first, s.second};
    }
    return all;
  };
  const auto all = tensors_of(state), expected = tensors_of(step_one.state);
  for (std::size_t k = 0; k < all.size(); ++k) { expect_same(all[k], expected[k], name + ": the state"); }
  expect(std::int64_t(state.step) == std::int64_t(step_one.state.step), name + ": the count of steps");
  // Memory: 1/P of the state, and up to 16 elements more.
  const std::size_t count = nn::parameter_count(one);
  expect(step_terms.state_bytes() <= (count / world.size() + 16) * all.size() * sizeof(float),
         name + ": rank " + std::to_string(world.rank()) + " keeps " + std::to_string(step_terms.state_bytes()) +
             " bytes of the state of " + std::to_string(count) + " parameters");
}

inline void check_optimisers(const ranks::communicator& world) {
  const adamw_settings decoupled{.rate = linear_rate{0.02, 0.001, 5}, .beta2 = 0.9, .weight_decay = 0.1};
  check_optimiser(world, "adamw", [&](const auto& m) { return adamw(m, decoupled); },
                  [&](const auto& m, const auto& grid) { return sharded_adamw<dp>(m, decoupled, grid); });
  const adam_settings coupled{.rate = 0.01, .weight_decay = 0.1};
  check_optimiser(world, "adam", [&](const auto& m) { return adam(m, coupled); },
                  [&](const auto& m, const auto& grid) { return sharded_adam<dp>(m, coupled, grid); });
  const sgd_settings momentum{.rate = 0.05, .momentum = 0.9, .dampening = 0.1, .nesterov = true, .weight_decay = 0.01};
  check_optimiser(world, "sgd", [&](const auto& m) { return sgd(m, momentum); },
                  [&](const auto& m, const auto& grid) { return sharded_sgd<dp>(m, momentum, grid); });
}

/// All of the above.
inline void check_training(const ranks::communicator& world) {
  check_data_parallel(world);
  check_accumulated(world);
  check_optimisers(world);
  world.barrier();
}

}  // namespace training_checks
