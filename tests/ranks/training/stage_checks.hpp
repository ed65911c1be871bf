// tests/ranks/training/stage_checks.hpp -- training steps of a small GPT whose layers are divided over ranks, on any
// backend, bit for bit equal to those of one rank that accumulates the same micro-batches.
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

namespace stage_checks {

using namespace dimwise;

struct pp : mesh_axis<> {};
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

// The layers of a stage along the mesh axis M; the first one embeds the tokens, and the last one has the logits. All
// layers of one rank, if M is void.
template <class T = float, class M = pp>
struct stage {
  using stage_along = M;
  using attention = nn::multi_head_attention<d_model, heads, d_k, d_v, nn::elements<T>>;
  using feed_forward = nn::feed_forward<d_model, hidden, nn::activation::gelu_tanh, nn::with_bias, T>;
  using norm = nn::layer_norm<d_model, nn::elements<T>>;
  using layer = nn::transformer_block<nn::self_attention<seq, key, attention>, feed_forward, norm, nn::pre_norm>;
  using table = nn::embedding<letters, d_model, T>;
  using positions_table = nn::learned_positions<seq, d_model, T>;
  using output = nn::linear<nn::from<d_model>, nn::to<letters>, nn::no_bias, T>;
  std::vector<table> words{};
  std::vector<positions_table> positions{};
  std::vector<layer> layers{};
  std::vector<norm> last_norm{};
  std::vector<output> logits{};
  using members = nn::member_list<&stage::words, &stage::positions, &stage::layers, &stage::last_norm, &stage::logits>;
};

// The same with tied embeddings: the first stage embeds with the table, and the last one has the logits of its copy.
template <class T = float, class M = pp>
struct tied_stage {
  using stage_along = M;
  using untied = stage<T, M>;
  std::vector<typename untied::table> words{};
  std::vector<typename untied::positions_table> positions{};
  std::vector<typename untied::layer> layers{};
  std::vector<typename untied::norm> last_norm{};
  using members =
      nn::member_list<&tied_stage::words, &tied_stage::positions, &tied_stage::layers, &tied_stage::last_norm>;
  using tied = nn::member_list<&tied_stage::words>;
};
template <class Model>
inline constexpr bool is_tied = requires { typename Model::tied; };

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

constexpr std::size_t layer_count = 4;
constexpr std::size_t longest = 16;

// All layers on one rank.
template <template <class, class> class Stage>
Stage<float, void> all_stages() {
  Stage<float, void> model;
  model.words.resize(1);
  model.positions.resize(1);
  model.layers.resize(layer_count);
  model.last_norm.resize(1);
  if constexpr (!is_tied<Stage<float, void>>) { model.logits.resize(1); }
  nn::normal how(1, 0.3);
  nn::initialise(model, how, seq{longest});
  return model;
}
// The part of a stage: uneven numbers of layers, if the stages do not divide them.
template <template <class, class> class Stage>
Stage<float, pp> stage_of(const Stage<float, void>& whole, std::size_t rank, std::size_t count) {
  Stage<float, pp> part;
  if (rank == 0) {
    part.words = whole.words;
    part.positions = whole.positions;
  }
  for (std::size_t i = rank * layer_count / count; i < (rank + 1) * layer_count / count; ++i) {
    part.layers.push_back(whole.layers[i]);
  }
  if (rank + 1 == count) {
    part.last_norm = whole.last_norm;
    if constexpr (is_tied<Stage<float, pp>>) {
      part.words = whole.words;
    } else {
      part.logits = whole.logits;
    }
  }
  return part;
}

// Micro-batches with other extents and other numbers of tokens.
template <class Batch>
tensor<id<letters>, Batch, seq> micro_batch(std::size_t step, std::size_t rank, std::size_t i) {
  tensor<id<letters>, Batch, seq> tokens(Batch{1 + i % 2}, seq{3 + (i + rank) % 4});
  nn::random draw(1000 * step + 100 * rank + i);
  auto* const to = tokens.overwrite();
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    to[k] = id<letters>(static_cast<std::size_t>(draw.uniform() * 11));
  }
  return tokens;
}

template <class Batch>
using features = tensor<float, Batch, seq, d_model>;

// What the stages compute of the micro-batches of a rank.
template <class Batch>
auto batches_of(std::size_t step, std::size_t rank, std::size_t count) {
  return micro_batches<features<Batch>>(count, [=](const auto& m, std::size_t i) {
    return m.positions[0](m.words[0](micro_batch<Batch>(step, rank, i)));
  }, [](const auto& m, const auto& x, std::size_t) {
    auto y = x;
    for (const auto& layer : m.layers) { y = layer(y, causal<seq, key>{}); }
    return y;
  }, [=](const auto& m, const auto& x, std::size_t i) {
    const auto logits = [&](const auto& features) {
      if constexpr (is_tied<std::remove_cvref_t<decltype(m)>>) {
        return m.words[0].logits(features);
      } else {
        return m.logits[0](features);
      }
    };
    return next_word_loss<seq>(logits(m.last_norm[0](x)), micro_batch<Batch>(step, rank, i));
  });
}
// One rank: the same functions, one after the other.
template <class Total, class Passed, class... F>
void add_all(Total& total, const pipelined_batches<Passed, F...>& of) {
  using passed = detail::tensor_of<tracked<float>, detail::shape_of<Passed>>;
  for (std::size_t i = 0; i < of.count; ++i) {
    total.add([&](const auto& m) { return of.loss(m, of.layers(m, passed(of.first(m, i)), i), i); });
  }
}

// Losses, gradients, norms, and steps with clipped gradients.
template <template <class, class> class Stage>
void check_steps(const ranks::communicator& world) {
  const ranks::mesh<pp> grid(world, pp{world.size()});
  auto whole = all_stages<Stage>();
  auto mine = stage_of(whole, world.rank(), world.size());
  const adamw_settings how{.rate = 0.01, .weight_decay = 0.1};
  adamw step_whole(whole, how);
  adamw step_mine(mine, how);
  auto divided = mine;
  auto step_divided = sharded_adamw<pp>(divided, how, grid);
  for (const std::size_t count : {5U, 1U, 8U, 2U}) {  // more and fewer micro-batches than stages
    const std::string name = std::to_string(count) + " micro-batches: ";
    const auto batches = batches_of<examples>(count, 0, count);
    accumulated total(whole);
    add_all(total, batches);
    const auto expected = total.mean();
    const auto [loss, gradient] = value_and_gradient(mine, batches, grid);
    expect(loss == expected.value, name + "the loss");
    expect_same(gradient, stage_of(expected.gradient, world.rank(), world.size()), name + "the gradient");
    const double norm = norm_of(expected.gradient);
    expect(norm > 0 && norm_of(gradient, grid) == norm, name + "the norm");
    const auto clipped = clip_norm(gradient, norm / 2, grid);
    step_whole.step(whole, clip_norm(expected.gradient, norm / 2));
    step_mine.step(mine, clipped);
    step_divided.step(divided, clipped);
    expect_same(mine, stage_of(whole, world.rank(), world.size()), name + "the model after a step");
    expect_same(divided, mine, name + "the model after a step of the optimiser of all stages");
  }
  const auto [loss, gradient] = value_and_gradient(mine, batches_of<examples>(0, 0, 0), grid);
  expect(loss == 0 && norm_of(gradient, grid) == 0, "no micro-batch");
}

// Batches are divided among two ranks, and layers among the others.
template <template <class, class> class Stage>
void check_data_parallel_stages(const ranks::communicator& world) {
  if (world.size() % 2 != 0) { return; }
  const ranks::mesh<dp, pp> grid(world, dp{2}, pp{world.size() / 2});
  const std::size_t stages = grid.count<pp>(), rank = grid.coordinate<pp>();
  const auto whole = all_stages<Stage>();
  using whole_model = Stage<float, void>;
  constexpr std::size_t count = 3;
  // One rank: the sums of both ranks, added in their order.
  auto sum = whole;
  double losses = 0, counted = 0;
  for (std::size_t r = 0; r < 2; ++r) {
    accumulated<whole_model, dp> total(whole);
    add_all(total, batches_of<examples_here>(0, r, count));
    const auto terms = total.terms();
    for_each_parameter_of([&](const std::string&, auto& to, const auto& from) {
      for (std::size_t i = 0; i < to.size(); ++i) {
        to.overwrite()[i] = r == 0 ? from.data()[i] : to.data()[i] + from.data()[i];
      }
    }, sum, terms.gradient.terms);
    losses += static_cast<double>(*terms.value.data());
    counted += total.count();
  }
  for_each_parameter_of([&](const std::string&, auto& to) {
    for (std::size_t i = 0; i < to.size(); ++i) { to.overwrite()[i] *= static_cast<float>(1 / counted); }
  }, sum);
  auto mine = stage_of(whole, rank, stages);
  const auto batches = batches_of<examples_here>(0, grid.coordinate<dp>(), count);
  const auto terms = value_and_gradient(mine, batches, grid);
  static_assert(std::is_same_v<decltype(terms.gradient), partial_gradient<Stage<float, pp>, dp>>);
  const auto [loss, gradient] = all_reduce<dp>(terms, grid);
  expect(loss == static_cast<float>(losses * (1 / counted)), "the loss of both ranks");
  expect_same(gradient, stage_of(sum, rank, stages), "the gradient of both ranks");
  expect(norm_of(gradient, grid) == norm_of(sum), "the norm of both ranks");
  // The same, added in the backward pass of the last micro-batch; one of the ranks may have none.
  for (const std::size_t here : {count, grid.coordinate<dp>(), 2 * grid.coordinate<dp>(), std::size_t{0}}) {
    const std::string name = std::to_string(here) + " micro-batches on a rank along dp: ";
    const auto some = batches_of<examples_here>(1, grid.coordinate<dp>(), here);
    const auto after = all_reduce<dp>(value_and_gradient(mine, some, grid), grid);
    const auto during = value_and_gradient(mine, some, grid, reduced<dp>(grid));
    expect(during.value == after.value, name + "the loss that was reduced in the backward pass");
    expect_same(during.gradient, after.gradient, name + "the gradient that was reduced in the backward pass");
    expect(detail::buckets_started_early() == (here == 0 ? 0 : 1), name + "the buckets that were started early");
  }
  // An optimiser of which each rank along dp has a part.
  auto stepped = whole;
  adamw step_whole(stepped, {.rate = 0.01});
  step_whole.step(stepped, sum);
  auto step_mine = sharded_adamw<dp>(mine, {.rate = 0.01}, grid);
  step_mine.step(mine, terms.gradient);
  expect_same(mine, stage_of(stepped, rank, stages), "the model after a step of both ranks");
}

/// All of the above.
inline void check_stages(const ranks::communicator& world) {
  check_steps<stage>(world);
  check_steps<tied_stage>(world);
  check_data_parallel_stages<stage>(world);
  check_data_parallel_stages<tied_stage>(world);
  world.barrier();
}

}  // namespace stage_checks
