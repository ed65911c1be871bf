// benchmarks/ranks/bench_ranks_steps.cpp -- parts of a transformer layer on several ranks: tensor-parallel feed-forward
// and attention, data-parallel training of a feed-forward layer, ring attention.
//
//   DIMWISE_RANKS=2 bench_ranks_steps [seconds context d_model heads hidden]     threads
//   mpirun -n 2 bench_ranks_steps                                                processes, if MPI was found
//
// Prints a line of JSON for each step: median seconds of the slowest rank; the ranks begin each repetition together.
// check_prediction.py compares them with what dimwise-predict says.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/ring_attention.hpp>
#include <dimwise/ranks/run.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <vector>

namespace {

using namespace dimwise;

struct layer_sizes {
  std::size_t sequences = 1;
  std::size_t context = 2048;
  std::size_t d_model = 512;
  std::size_t heads = 8;
  std::size_t hidden = 2048;
  double seconds = 2;
};

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct heads : heads_dim<> {};
struct d_model : feature_dim<> {};
struct hidden : feature_dim<> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};
struct sp : mesh_axis<> {};

template <class Tensor, class... Extents>
Tensor filled(unsigned seed, float scale, const Extents&... extents) {
  Tensor x(extents...);
  float* const elements = x.overwrite();
  unsigned state = seed;
  for (std::size_t i = 0; i < x.size(); ++i) {
    state = state * 1664525U + 1013904223U;
    elements[i] = scale * (static_cast<float>(state >> 8U) / 8388608.0F - 1);
  }
  return x;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class F>
void measure(const ranks::communicator& world, const char* name, double seconds, const F& f) {
  std::vector<double> times;
  double left = seconds;
  for (int round = 0; round < 3 || (left > 0 && round < 1000); ++round) {
    world.barrier();
    const double start = now();
    f();
    double one = now() - start;
    world.all_reduce(&one, 1, "seconds", ranks::reduction::max);
    if (round > 0) { times.push_back(one); }  // the first one touches its memory
    left -= one;
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  if (world.rank() == 0) {
    std::printf("{\"step\": \"%s\", \"ranks\": %zu, \"seconds\": %.9g, \"repetitions\": %zu}\n", name, world.size(),
                times[times.size() / 2], times.size());
    std::fflush(stdout);
  }
}

void feed_forward(const ranks::communicator& world, const layer_sizes& s) {
  const auto x =
      filled<tensor<float, batch, seq, d_model>>(1, 1, batch{s.sequences}, seq{s.context}, d_model{s.d_model});
  const hidden part{s.hidden / world.size()};
  const auto up = filled<tensor<float, d_model, hidden>>(2, 0.05F, d_model{s.d_model}, part);
  const auto down = filled<tensor<float, hidden, d_model>>(3, 0.05F, part, d_model{s.d_model});
  tensor<float, batch, seq, d_model> sum(batch{s.sequences}, seq{s.context}, d_model{s.d_model});
  measure(world, "tp feed_forward", s.seconds, [&] {
    const tensor h = gelu(contract<d_model>(x, up));
    const tensor y = contract<hidden>(h, down);
    world.all_reduce(y.data(), sum.overwrite(), y.size(), "y");
  });
}

void attention(const ranks::communicator& world, const layer_sizes& s) {
  const auto x =
      filled<tensor<float, batch, seq, d_model>>(1, 1, batch{s.sequences}, seq{s.context}, d_model{s.d_model});
  const d_model width{s.d_model};
  const heads part{s.heads / world.size()};
  const std::size_t features = s.d_model / s.heads;
  const auto w_q = filled<tensor<float, d_model, heads, d_k>>(2, 0.05F, width, part, d_k{features});
  const auto w_k = filled<tensor<float, d_model, heads, d_k>>(3, 0.05F, width, part, d_k{features});
  const auto w_v = filled<tensor<float, d_model, heads, d_v>>(4, 0.05F, width, part, d_v{features});
  const auto w_o = filled<tensor<float, heads, d_v, d_model>>(5, 0.05F, part, d_v{features}, width);
  tensor<float, batch, seq, d_model> sum(batch{s.sequences}, seq{s.context}, d_model{s.d_model});
  measure(world, "tp attention", s.seconds, [&] {
    const tensor q = contract<d_model>(x, w_q);
    const tensor k = rename<seq, key>(contract<d_model>(x, w_k));
    const tensor v = rename<seq, key>(contract<d_model>(x, w_v));
    const tensor z = contract<key>(softmax<key>(scores<d_k>(q, k)), v);
    const tensor y = contract<heads, d_v>(z, w_o);
    world.all_reduce(y.data(), sum.overwrite(), y.size(), "y");
  });
}

void training(const ranks::communicator& world, const layer_sizes& s) {
  const auto x = filled<tensor<float, batch, seq, d_model>>(1, 1, batch{s.sequences}, seq{s.context / world.size()},
                                                            d_model{s.d_model});
  const std::tuple model(filled<tensor<float, d_model, hidden>>(2, 0.05F, d_model{s.d_model}, hidden{s.hidden}),
                         filled<tensor<float, hidden, d_model>>(3, 0.05F, hidden{s.hidden}, d_model{s.d_model}));
  measure(world, "dp feed_forward step", s.seconds, [&] {
    auto [up, down] = gradient(model, [&](const auto& m) {
      const tensor h = contract<d_model>(x, std::get<0>(m));  // saved before the activation, as in nn::feed_forward
      const tensor y = contract<hidden>(gelu(h), std::get<1>(m));
      return mean<batch, seq, d_model>(square(y));
    });
    world.all_reduce(up.overwrite(), up.size(), "up");
    world.all_reduce(down.overwrite(), down.size(), "down");
  });
}

void ring(const ranks::communicator& world, const layer_sizes& s) {
  using seq_here = shard<seq, sp>;  // whole queries would meet the keys of their own rank alone
  using key_here = shard<key, sp>;
  const ranks::mesh<sp> grid(world);
  const std::size_t features = s.d_model / s.heads;
  const batch many{s.sequences};
  const auto queries = part_here<seq_here>(seq{s.context}, world.rank(), world.size());
  const auto part = part_here<key_here>(key{s.context}, world.rank(), world.size());
  const auto q = filled<tensor<float, batch, seq_here, heads, d_k>>(1, 1, many, queries, heads{s.heads}, d_k{features});
  const auto k = filled<tensor<float, batch, key_here, heads, d_k>>(2, 1, many, part, heads{s.heads}, d_k{features});
  const auto v = filled<tensor<float, batch, key_here, heads, d_v>>(3, 1, many, part, heads{s.heads}, d_v{features});
  measure(world, "ring attention", s.seconds,
          [&] { (void)tensor(ring_attention<key_here>(scores<d_k>(q, k), v, grid)); });
}

}  // namespace

int main(int count, char** arguments) {
  const auto number = [&](int at, std::size_t otherwise) {
    return count > at ? static_cast<std::size_t>(std::atoll(arguments[at])) : otherwise;
  };
  const layer_sizes usual;
  const layer_sizes sizes{.sequences = usual.sequences,
                          .context = number(2, usual.context),
                          .d_model = number(3, usual.d_model),
                          .heads = number(4, usual.heads),
                          .hidden = number(5, usual.hidden),
                          .seconds = count > 1 ? std::atof(arguments[1]) : usual.seconds};
  return ranks::run([&](const ranks::communicator& world) {
    feed_forward(world, sizes);
    attention(world, sizes);
    training(world, sizes);
    ring(world, sizes);
  }, {.checks = false});
}
