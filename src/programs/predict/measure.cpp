// src/programs/predict/measure.cpp -- the kernels and messages whose rates dimwise-predict measures.
// SPDX-License-Identifier: BSL-1.0
#include "measure.hpp"

#include <dimwise/dimwise.hpp>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace prediction {

namespace {

using namespace dimwise;

struct rows : batch_dim<> {};
struct from : feature_dim<> {};
struct to : feature_dim<> {};
struct head : heads_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};

template <class Tensor, class... Extents>
Tensor filled(const Extents&... extents) {
  Tensor x(extents...);
  float* const elements = x.overwrite();
  for (std::size_t i = 0; i < x.size(); ++i) { elements[i] = 0.01F * static_cast<float>(i % 17U) - 0.08F; }
  return x;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The median seconds of a call on the slowest rank. The ranks begin each round together.
template <class F>
double seconds_of(const ranks::communicator& world, double seconds, const F& f) {
  f();  // memory is touched for the first time
  constexpr int rounds = 7;
  world.barrier();
  const double begin = now();
  f();
  double once = std::max(now() - begin, 1e-9);
  world.all_reduce(&once, 1, "seconds", ranks::reduction::max);
  const int repetitions = static_cast<int>(std::clamp(seconds / rounds / once, 1.0, 1e5));
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    world.barrier();
    const double start = now();
    for (int i = 0; i < repetitions; ++i) { f(); }
    times.push_back((now() - start) / repetitions);
  }
  world.all_reduce(times.data(), times.size(), "seconds", ranks::reduction::max);
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[rounds / 2];
}

// An extent of a model, not larger than what is measured in a fraction of a second.
std::size_t bounded(double extent, std::size_t most) {
  return std::clamp<std::size_t>(static_cast<std::size_t>(extent), 1, most);
}

void measure_kernels(machine& on, const model& sizes, const ranks::communicator& world, double seconds) {
  const std::size_t width = bounded(sizes.d_model, 2048);
  const std::size_t hidden = bounded(sizes.hidden, 4096);
  {
    constexpr std::size_t tokens = 256;
    const auto x = filled<tensor<float, rows, from>>(rows{tokens}, from{width});
    const auto w = filled<tensor<float, from, to>>(from{width}, to{hidden});
    tensor<float, rows, to> y;
    const double one = seconds_of(world, seconds, [&] { y = contract<from>(x, w); });
    on.product_rate = product_operations(tokens, static_cast<double>(width), static_cast<double>(hidden)) / one;
  }
  {
    constexpr std::size_t positions = 1024;
    const std::size_t heads = bounded(sizes.heads, 4);
    const std::size_t features = bounded(sizes.d_k, 256);
    const auto q = filled<tensor<float, seq, head, d_k>>(seq{positions}, head{heads}, d_k{features});
    const auto k = filled<tensor<float, key, head, d_k>>(key{positions}, head{heads}, d_k{features});
    const auto v = filled<tensor<float, key, head, d_v>>(key{positions}, head{heads}, d_v{features});
    tensor<float, seq, head, d_v> z;
    const double one = seconds_of(world, seconds, [&] { z = contract<key>(softmax<key>(scores<d_k>(q, k)), v); });
    on.attention_rate = attention_operations(positions, positions, static_cast<double>(heads * features)) / one;
  }
  {  // 128 MB: more than caches hold of it
    constexpr std::size_t inputs = 4096;
    constexpr std::size_t outputs = 8192;
    const auto x = filled<tensor<float, rows, from>>(rows{1}, from{inputs});
    const auto w = filled<tensor<float, from, to>>(from{inputs}, to{outputs});
    tensor<float, rows, to> y;
    const double one = seconds_of(world, seconds, [&] { y = contract<from>(x, w); });
    on.stream_bandwidth = 4.0 * inputs * outputs / one;
  }
  {
    constexpr std::size_t elements = std::size_t{1} << 22U;
    const auto a = filled<tensor<float, from>>(from{elements});
    const auto b = filled<tensor<float, from>>(from{elements});
    tensor<float, from> y;
    const double one = seconds_of(world, seconds, [&] { y = a + b; });
    on.pointwise_bandwidth = 3 * 4.0 * elements / one;
  }
  {
    const auto a = filled<tensor<float, from>>(from{16});
    tensor<float, from> y;
    on.call = seconds_of(world, seconds, [&] { y = a + a; });
  }
}

// The latency by short sums, the bandwidths by long ones and by messages around a ring.
void measure_messages(connection& l, const ranks::communicator& world, double seconds) {
  const std::size_t ranks = world.size();
  const std::size_t next = (world.rank() + 1) % ranks;
  const std::size_t previous = (world.rank() + ranks - 1) % ranks;
  constexpr std::size_t few = 16;
  constexpr std::size_t many = std::size_t{1} << 20U;
  const std::vector<float> mine(many, 1.0F);
  std::vector<float> sum(many);
  const double short_sum = seconds_of(world, seconds, [&] { world.all_reduce(mine.data(), sum.data(), few); });
  const double long_sum = seconds_of(world, seconds, [&] { world.all_reduce(mine.data(), sum.data(), many); });
  const double message =
      seconds_of(world, seconds, [&] { world.permute(mine.data(), many, next, sum.data(), many, previous).wait(); });
  const auto count = static_cast<double>(ranks);
  // A gap is taken for a quarter of the latency: direct_all_reduce_seconds, solved for what is measured.
  l.latency = short_sum / (1 + (count - 2) / 4);
  l.gap = l.latency / 4;
  const double bytes = 4.0 * many;
  l.reduce_bandwidth = (count - 1) / count * bytes / std::max(long_sum / 2 - short_sum, 1e-9);
  l.bandwidth = bytes / std::max(message - l.latency, 1e-9);
}

}  // namespace

machine measure_machine(const model& sizes, const ranks::communicator& world, double seconds) {
  machine on{.name = "this machine"};
  measure_kernels(on, sizes, world, seconds);
  on.ranks_per_machine = 1e9;  // all that run here are on one machine
  on.cores = static_cast<double>(std::max(1U, std::thread::hardware_concurrency()));
  if (world.size() > 1) {
    measure_messages(on.near, world, seconds);
  } else {
    on.near = {.latency = on.call,
               .bandwidth = on.pointwise_bandwidth / 2,
               .reduce_bandwidth = on.pointwise_bandwidth / 3,
               .gap = on.call};
  }
  on.far = on.near;
  return on;
}

}  // namespace prediction
