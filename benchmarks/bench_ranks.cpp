// benchmarks/bench_ranks.cpp -- all_reduce and permute of dimwise against MPI's own calls, in one run.
//
//   mpirun -n 2 bench_ranks [seconds per line]
//   bench_ranks ring [positions] [ranks]
//
// Prints `call bytes dimwise_us mpi_us ratio`: medians of the slowest rank, the two in turn. The mark is a ratio of at
// most 1.5 from 256 KiB on. MPI_Allreduce chooses the order of its additions; dimwise adds in the order of the ranks.
//
// `ring`: ring attention over threads of this process, `pass positions ranks step_ms waiting_ms percent`: the time of a
// step, and how much of it the slowest rank waits for the next block. The mark is at most 10 % from 4096 positions on.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>
#include <dimwise/ranks/mpi.hpp>
#include <dimwise/ranks/ring_attention.hpp>
#include <dimwise/ranks/threads.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

namespace ranks = dimwise::ranks;

template <class F>
double seconds_of(F f, int repetitions) {
  (void)MPI_Barrier(MPI_COMM_WORLD);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repetitions; ++i) { f(); }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repetitions;
}

// Medians of both, each measured in turn for `seconds` together.
template <class Own, class Other>
void compare(const ranks::communicator& world, const char* call, std::size_t bytes, double seconds, Own own,
             Other other) {
  double once = std::max(seconds_of(own, 3), seconds_of(other, 3));
  world.all_reduce(&once, 1, "seconds", ranks::reduction::max);
  const int repetitions = std::clamp(static_cast<int>(seconds / 2 / 31 / once), 1, 5000);
  std::vector<double> of_own;
  std::vector<double> of_other;
  for (int round = 0; round < 31; ++round) {
    of_own.push_back(seconds_of(own, repetitions));
    of_other.push_back(seconds_of(other, repetitions));
  }
  world.all_reduce(of_own.data(), of_own.size(), "seconds", ranks::reduction::max);
  world.all_reduce(of_other.data(), of_other.size(), "seconds", ranks::reduction::max);
  std::nth_element(of_own.begin(), of_own.begin() + 15, of_own.end());
  std::nth_element(of_other.begin(), of_other.begin() + 15, of_other.end());
  if (world.rank() == 0) {
    std::printf("%-10s %9zu %10.2f %10.2f %6.2f\n", call, bytes, 1e6 * of_own[15], 1e6 * of_other[15],
                of_own[15] / of_other[15]);
    std::fflush(stdout);
  }
}

void run(const ranks::communicator& world, double seconds) {
  const int size = static_cast<int>(world.size());
  const int next = static_cast<int>((world.rank() + 1) % world.size());
  const int previous = static_cast<int>((world.rank() + world.size() - 1) % world.size());
  if (world.rank() == 0) {
    std::printf("%-10s %9s %10s %10s %6s  (%d ranks)\n", "call", "bytes", "dimwise", "mpi", "ratio", size);
  }
  for (const std::size_t bytes : {std::size_t{4}, std::size_t{256} << 10U, std::size_t{4} << 20U}) {
    const std::size_t count = bytes / sizeof(float);
    const std::vector<float> mine(count, 1.0F);
    std::vector<float> result(count);
    compare(world, "all_reduce", bytes, seconds, [&] { world.all_reduce(mine.data(), result.data(), count); }, [&] {
      (void)MPI_Allreduce(mine.data(), result.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    });
    compare(world, "permute", bytes, seconds, [&] {
      world
          .permute(mine.data(), count, static_cast<std::size_t>(next), result.data(), count,
                   static_cast<std::size_t>(previous))
          .wait();
    }, [&] {
      (void)MPI_Sendrecv(mine.data(), static_cast<int>(count), MPI_FLOAT, next, 0, result.data(),
                         static_cast<int>(count), MPI_FLOAT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  }
}

using namespace dimwise;
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct heads : heads_dim<8> {};
struct d_k : feature_dim<64> {};
struct sp : mesh_axis<> {};
using seq_here = shard<seq, sp>;
using key_here = shard<key, sp>;

// The steps of the forward pass as `ring_attention` takes them, with a clock around the wait for the next block.
void ring(std::size_t positions, std::size_t count) {
  std::vector<double> steps(count);
  std::vector<double> waits(count);
  ranks::run_threads(count, [&](const ranks::communicator& world) {
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto seconds = [](auto begin, auto end) { return std::chrono::duration<double>(end - begin).count(); };
    const tensor<float, seq_here, heads, d_k> q(part_here<seq_here>(seq{positions}, world.rank(), count));
    const tensor<float, key_here, heads, d_k> k(part_here<key_here>(key{positions}, world.rank(), count));
    const tensor<float, key_here, heads, d_k> v = k;
    const auto formula = scores<d_k>(q, k);
    using scores_type = std::remove_cv_t<decltype(formula)>;
    using result = rule::ring_attention<key_here, detail::shape_of<scores_type>, detail::shape_of<decltype(v)>>::shape;
    using taken = detail::ring_scores<key_here, scores_type>;
    std::vector<double> of_steps;
    std::vector<double> of_waits;
    for (int round = 0; round < 12; ++round) {
      world.barrier();
      detail::ring_of_blocks<key_here, std::remove_cv_t<decltype(k)>, std::remove_cv_t<decltype(v)>> blocks(k, v,
                                                                                                            world);
      double waited = 0;
      const auto begin = now();
      blocks.start();
      auto part = detail::part_of_block<key_here, result>(taken::with(formula, q, blocks.keys()), blocks.values());
      for (;;) {
        const auto before = now();
        const bool more = blocks.next();
        waited += seconds(before, now());
        if (!more) { break; }
        blocks.start();
        part = dimwise::merge(
            part, detail::part_of_block<key_here, result>(taken::with(formula, q, blocks.keys()), blocks.values()));
      }
      if (round < 2) { continue; }
      of_steps.push_back(seconds(begin, now()) / static_cast<double>(count));
      of_waits.push_back(waited / static_cast<double>(count));
    }
    std::nth_element(of_steps.begin(), of_steps.begin() + 5, of_steps.end());
    std::nth_element(of_waits.begin(), of_waits.begin() + 5, of_waits.end());
    steps[world.rank()] = of_steps[5];
    waits[world.rank()] = of_waits[5];
  }, {.checks = false});
  const double step = *std::max_element(steps.begin(), steps.end());
  const double wait = *std::max_element(waits.begin(), waits.end());
  std::printf("%-10s %9s %5s %10s %10s %7s\n", "pass", "positions", "ranks", "step_ms", "waiting_ms", "percent");
  std::printf("%-10s %9zu %5zu %10.2f %10.3f %7.2f\n", "ring", positions, count, 1e3 * step, 1e3 * wait,
              100 * wait / step);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::string_view(arguments[1]) == "ring") {
    ring(count > 2 ? static_cast<std::size_t>(std::atoll(arguments[2])) : 4096,
         count > 3 ? static_cast<std::size_t>(std::atoll(arguments[3])) : 2);
    return 0;
  }
  const double seconds = count > 1 ? std::atof(arguments[1]) : 2;
  return ranks::run([&](const ranks::communicator& world) { run(world, seconds); }, {.checks = false});
}
