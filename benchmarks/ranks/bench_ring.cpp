// benchmarks/ranks/bench_ring.cpp -- how long the threads of ring attention wait for each other.
//
//   bench_ring [ranks] [positions] [rounds] [steps]
//
// A line for each mask (stripes on 2, 4 and 8 ranks), of the medians of the rounds in ms:
//
//   pass      the time from a barrier until the slowest rank has finished
//   begin     until the slowest rank has the first block
//   compute   of the fastest and of the slowest rank, in all steps
//   step      the time of a step of the slowest rank, and the longest one of all steps and rounds
//   waiting   for the next block, in a step, of the rank that waits longest; and its share of a step. The mark is at
//             most 10 % from 4096 positions on.
//
// And, without `steps`, a line for the forward and the backward pass by the functions that users call: `pass`, the time
// that the fastest rank has to spare at its end, and the time for which the rank that waits longest is asleep (where
// each rank has a core of its own).
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/ring_attention.hpp>
#include <dimwise/ranks/threads.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <tuple>
#include <type_traits>
#include <vector>

namespace {

using namespace dimwise;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct heads : heads_dim<8> {};
struct d_k : feature_dim<64> {};
template <std::size_t N>  // static for stripes
struct sp : mesh_axis<N> {};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The time that this thread has computed.
double computed() {
  timespec t{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double median(std::vector<double> all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

template <class Tensor, class Part>
Tensor filled(const Part& part) {
  Tensor x(part);
  float* const elements = x.overwrite();
  unsigned state = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    state = state * 1664525U + 1013904223U;
    elements[i] = static_cast<float>(state >> 8U) / 16777216.0F - 0.5F;
  }
  return x;
}

// What a rank measures in one round.
struct times {
  double begin = 0;
  double compute = 0;
  double waiting = 0;
  double longest = 0;
  double own = 0;   // until this rank has finished
  double pass = 0;  // until all have
};

// The steps of the forward pass as `ring_attention` takes them, with a clock around each part.
template <class Key, class Q, class K, class V, class Formula>
times measured_pass(const Q& q, const K& k, const V& v, const Formula& formula, const ranks::communicator& world) {
  using scores_type = std::remove_cv_t<Formula>;
  using result = typename rule::ring_attention<Key, detail::shape_of<scores_type>, detail::shape_of<V>>::shape;
  using taken = detail::ring_scores<Key, scores_type>;
  times t;
  world.barrier();
  const double start = now();
  detail::ring_of_blocks<Key, K, V> blocks(k, v, world);
  blocks.start();
  double at = now();
  t.begin = at - start;
  const auto ended = [&](double& sum) {
    const double end = now();
    sum += end - at;
    t.longest = std::max(t.longest, end - at);
    at = end;
  };
  auto part = detail::part_of_block<Key, result>(taken::with(formula, q, blocks.keys()), blocks.values());
  ended(t.compute);
  while (blocks.next()) {
    ended(t.waiting);
    blocks.start();
    const auto scores = taken::with(formula, q, blocks.keys());
    if (detail::may_show_any<Key>(scores)) {
      part = dimwise::merge(part, detail::part_of_block<Key, result>(scores, blocks.values()));
    }
    ended(t.compute);
  }
  t.own = at - start;
  world.barrier();
  t.pass = now() - start;
  return t;
}

template <class F>
times measured_call(const F& f, const ranks::communicator& world) {
  times t;
  world.barrier();
  const double start = now(), computed_before = computed();
  f();
  t.own = now() - start;
  t.waiting = t.own - (computed() - computed_before);
  world.barrier();
  t.pass = now() - start;
  return t;
}

// The same member of all rounds of a rank.
double median_of(const std::vector<times>& rounds, double times::* member) {
  std::vector<double> all;
  for (const times& one : rounds) { all.push_back(one.*member); }
  return median(all);
}

struct all_ranks {
  explicit all_ranks(const std::vector<std::vector<times>>& measured) : of_ranks(measured) {}
  [[nodiscard]] double smallest(double times::* member) const {
    double least = median_of(of_ranks[0], member);
    for (const auto& one : of_ranks) { least = std::min(least, median_of(one, member)); }
    return least;
  }
  [[nodiscard]] double largest(double times::* member) const {
    double most = 0;
    for (const auto& one : of_ranks) { most = std::max(most, median_of(one, member)); }
    return most;
  }
  [[nodiscard]] double longest_step() const {
    double most = 0;
    for (const auto& one : of_ranks) {
      for (const times& t : one) { most = std::max(most, t.longest); }
    }
    return most;
  }
  const std::vector<std::vector<times>>& of_ranks;
};

template <class F>
std::vector<std::vector<times>> rounds_on(std::size_t ranks_here, const F& f) {
  std::vector<std::vector<times>> all(ranks_here);
  ranks::run_threads(ranks_here, [&](const ranks::communicator& world) { all[world.rank()] = f(world); },
                     {.checks = false});
  return all;
}

template <class Axis, bool IsCausal, class... Way>
void measure(const char* name, std::size_t ranks_here, std::size_t positions, std::size_t rounds, bool has_calls) {
  using Q = shard<seq, Axis, Way...>;
  using Key = shard<key, Axis, Way...>;
  const auto with_operands = [&](const ranks::communicator& world, const auto& f) {
    const auto q = filled<tensor<float, Q, heads, d_k>>(part_here<Q>(seq{positions}, world.rank(), ranks_here));
    const auto k = filled<tensor<float, Key, heads, d_k>>(part_here<Key>(key{positions}, world.rank(), ranks_here));
    const auto v = filled<tensor<float, Key, heads, d_k>>(part_here<Key>(key{positions}, world.rank(), ranks_here));
    std::vector<times> all;
    for (std::size_t round = 0; round < rounds + 2; ++round) {
      const times one = f(q, k, v);
      if (round >= 2) { all.push_back(one); }  // the first ones touch their memory
    }
    return all;
  };
  const auto formula = [](const auto& q, const auto& k) {
    if constexpr (IsCausal) {
      return masked(scores<d_k>(q, k), causal<Q, Key>{});
    } else {
      return scores<d_k>(q, k);
    }
  };
  const auto steps = rounds_on(ranks_here, [&](const ranks::communicator& world) {
    return with_operands(world, [&](const auto& q, const auto& k, const auto& v) {
      return measured_pass<Key>(q, k, v, formula(q, k), world);
    });
  });
  const all_ranks of(steps);
  constexpr double ms = 1e3;
  const double count = static_cast<double>(ranks_here);
  const double step = of.largest(&times::own) / count, waiting = of.largest(&times::waiting) / count;
  std::printf(
      "%-18s P=%zu n=%zu pass %7.2f begin %6.3f compute %7.2f %7.2f step %6.2f longest %6.2f waiting %6.3f %5.1f %%\n",
      name, ranks_here, positions, ms * of.largest(&times::pass), ms * of.largest(&times::begin),
      ms * of.smallest(&times::compute), ms * of.largest(&times::compute), ms * step, ms * of.longest_step(),
      ms * waiting, 100 * waiting / step);
  std::fflush(stdout);
  if (!has_calls) { return; }
  const auto called = [&](const char* what, const auto& call) {
    const auto measured = rounds_on(ranks_here, [&](const ranks::communicator& world) {
      const ranks::mesh<Axis> grid(world);
      return with_operands(world, [&](const auto& q, const auto& k, const auto& v) {
        return measured_call([&] { call(q, k, v, grid); }, world);
      });
    });
    const all_ranks those(measured);
    std::printf("%-18s P=%zu n=%zu pass %7.2f spare %6.2f asleep %6.2f %5.1f %%  %s\n", name, ranks_here, positions,
                ms * those.largest(&times::pass), ms * (those.largest(&times::pass) - those.smallest(&times::own)),
                ms * those.largest(&times::waiting), 100 * those.largest(&times::waiting) / those.largest(&times::own),
                what);
    std::fflush(stdout);
  };
  called("forward", [&](const auto& q, const auto& k, const auto& v, const auto& grid) {
    (void)ring_attention<Key>(formula(q, k), v, grid);
  });
  called("forward and backward", [&](const auto& q, const auto& k, const auto& v, const auto& grid) {
    (void)value_and_gradient(std::tuple(q, k, v), [&](const auto& m) {
      const auto& [a, b, c] = m;
      return sum<Q, heads, d_k>(ring_attention<Key>(formula(a, b), c, grid));
    });
  });
}

}  // namespace

int main(int count, char** arguments) {
  const auto number = [&](int at, std::size_t otherwise) {
    return count > at ? static_cast<std::size_t>(std::atoll(arguments[at])) : otherwise;
  };
  const std::size_t ranks_here = number(1, 2), positions = number(2, 4096), rounds = number(3, 9);
  const bool has_calls = count < 5;
  measure<sp<at_run_time>, false>("no mask", ranks_here, positions, rounds, has_calls);
  measure<sp<at_run_time>, true>("causal, blocks", ranks_here, positions, rounds, has_calls);
  if (ranks_here == 2) { measure<sp<2>, true, striped>("causal, stripes", ranks_here, positions, rounds, has_calls); }
  if (ranks_here == 4) { measure<sp<4>, true, striped>("causal, stripes", ranks_here, positions, rounds, has_calls); }
  if (ranks_here == 8) { measure<sp<8>, true, striped>("causal, stripes", ranks_here, positions, rounds, has_calls); }
  return 0;
}
