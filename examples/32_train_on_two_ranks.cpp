// SPDX-License-Identifier: BSL-1.0
// 32_train_on_two_ranks -- a small GPT, trained on two ranks to the loss of one.
//
// Each rank computes the gradient of its half of the batch, the ranks add the halves in their order, and each one keeps
// the optimiser's state of half of the parameters. Every step has the bits of one rank that accumulates both halves.
//
//   32_train_on_two_ranks                   # two threads
//   mpirun -n 2 32_train_on_two_ranks       # two processes, if the program links dimwise::mpi
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks.hpp>
#include <dimwise/ranks/training.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace lesson {
struct dp : dimwise::mesh_axis<2> {};
struct examples : dimwise::batch_dim<4> {};
using examples_here = dimwise::shard<examples, dp>;  // this rank's two examples
struct two_examples : dimwise::batch_dim<2> {};      // the same on one rank
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct letters : dimwise::choice_dim<27> {};
struct d_model : dimwise::feature_dim<16> {};
struct heads : dimwise::heads_dim<2> {};
struct d_k : dimwise::divided<d_model, heads> {};
struct d_v : dimwise::divided<d_model, heads> {};
struct hidden : dimwise::feature_dim<32> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

template <class T = float>
struct gpt {
  using attention = nn::multi_head_attention<d_model, heads, d_k, d_v, nn::elements<T>>;
  using feed_forward = nn::feed_forward<d_model, hidden, nn::activation::gelu_tanh, nn::with_bias, T>;
  using norm = nn::layer_norm<d_model, nn::elements<T>>;
  using table = nn::embedding<letters, d_model, T>;
  using positions_table = nn::learned_positions<seq, d_model, T>;
  using layer = nn::transformer_block<nn::self_attention<seq, key, attention>, feed_forward, norm, nn::pre_norm>;
  table words;
  positions_table positions;
  layer block;
  using members = nn::member_list<&gpt::words, &gpt::positions, &gpt::block>;

  template <class Batch>
  auto operator()(const tensor<id<letters>, Batch, seq>& text) const {
    const tensor x = positions(words(text));
    return words.logits(block(x, causal<seq, key>{}));
  }
};

constexpr std::size_t length = 8;

// The half of a step's batch that a rank has: pieces of a text.
template <class Half>
tensor<id<letters>, Half, seq> half_of(std::size_t step, std::size_t rank) {
  constexpr std::string_view text = "attention is all you need to attend to all the words that you need ";
  tensor<id<letters>, Half, seq> tokens(seq{length});
  nn::random draw(100 * step + rank);
  auto* to = tokens.overwrite();
  for (std::size_t example = 0; example < 2; ++example) {
    const auto first = static_cast<std::size_t>(draw.uniform() * static_cast<double>(text.size() - length));
    for (const char c : text.substr(first, length)) {
      *to++ = id<letters>(static_cast<std::size_t>(c == ' ' ? 26 : c - 'a'));
    }
  }
  return tokens;
}
template <class Half>
auto loss_of(std::size_t step, std::size_t rank) {
  return [tokens = half_of<Half>(step, rank)](const auto& m) { return next_word_loss<seq>(m(tokens), tokens); };
}

gpt<> fresh() {
  gpt<> model;
  nn::normal how(1, 0.1);
  nn::initialise(model, how, seq{length});  // with one seed, every rank draws the same weights
  return model;
}

constexpr std::size_t step_count = 40;
const adamw_settings settings{.rate = 0.01, .weight_decay = 0.1};

// One rank: both halves, one after the other.
float trained_on_one_rank() {
  gpt<> model = fresh();
  adamw optimiser(model, settings);
  float last = 0;
  for (std::size_t step = 0; step < step_count; ++step) {
    accumulated total(model);
    for (std::size_t rank = 0; rank < 2; ++rank) { total.add(loss_of<two_examples>(step, rank)); }
    const auto [loss, gradient] = total.mean();
    optimiser.step(model, gradient);
    last = loss;
  }
  return last;
}

// Two ranks: each its half, reduced while the backward pass goes on.
float trained_on_two_ranks(const ranks::mesh<dp>& mesh) {
  gpt<> model = fresh();
  auto optimiser = sharded_adamw<dp>(model, settings, mesh);
  float last = 0;
  for (std::size_t step = 0; step < step_count; ++step) {
    const auto mine = loss_of<examples_here>(step, mesh.coordinate<dp>());
    const auto [loss, gradient] = value_and_gradient(model, mine, reduced<dp>(mesh));
    optimiser.step(model, gradient);
    last = loss;
    if (step == 0 && mesh.coordinate<dp>() == 0) {
      std::printf("step 1: loss %.2f, %zu of %zu bytes of state on this rank\n", static_cast<double>(loss),
                  optimiser.state_bytes(), 2 * sizeof(float) * nn::parameter_count(model));
    }
  }
  return last;
}

int train(const ranks::communicator& world) {
  const ranks::mesh<dp> mesh(world);
  const float loss = trained_on_two_ranks(mesh);
  if (world.rank() != 0) { return EXIT_SUCCESS; }
  const float expected = trained_on_one_rank();
  std::printf("step %zu: loss %.2f on two ranks, %.2f on one\n", step_count, static_cast<double>(loss),
              static_cast<double>(expected));
  return loss == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main() {
  int code = EXIT_SUCCESS;
  const int failed = ranks::run([&](const ranks::communicator& world) {
    if (world.size() == 2) { return train(world); }
    // Started alone: two threads.
    ranks::run_threads(2, [&](const ranks::communicator& both) {
      if (train(both) != EXIT_SUCCESS) { code = EXIT_FAILURE; }
    });
    return code;
  });
  return failed;
}
