// benchmarks/ranks/bench_ranks.cpp -- the collectives of dimwise against MPI's own calls, in one run.
//
//   mpirun -n 2 bench_ranks [seconds per line] [call]
//
// Prints `call bytes dimwise_us mpi_us ratio rounds`: medians of the slowest rank, the two in turn, from and to the
// same memory. The mark is a ratio of at most 1.5 from 256 KiB on. MPI_Allreduce chooses the order of its additions;
// dimwise adds in the order of the ranks. If another program takes a core from a rank, the others wait for a time
// slice, which is longer than a call: such rounds do not count, and the last column says how many are left. With more
// ranks than cores all rounds count.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/ranks/mpi.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <sys/resource.h>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace ranks = dimwise::ranks;

struct round {
  double seconds;
  double switches;  // how often another program took the core
};

template <class F>
round measured(F f, int repetitions) {
  const auto switches = [] {
    rusage used{};
    (void)getrusage(RUSAGE_SELF, &used);
    return used.ru_nivcsw;
  };
  (void)MPI_Barrier(MPI_COMM_WORLD);
  const auto before = switches();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repetitions; ++i) { f(); }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repetitions;
  return {seconds, static_cast<double>(switches() - before)};
}

// The median time of the slowest rank, of the rounds that count, and their number.
std::pair<double, std::size_t> median(const ranks::communicator& world, std::vector<round> rounds) {
  static_assert(sizeof(round) == 2 * sizeof(double));
  world.all_reduce(&rounds.front().seconds, 2 * rounds.size(), "rounds", ranks::reduction::max);
  if (world.size() <= std::thread::hardware_concurrency()) {
    std::erase_if(rounds, [](const round& one) { return one.switches > 0; });
  }
  if (rounds.empty()) { return {0, 0}; }
  const auto middle = rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2);
  std::nth_element(rounds.begin(), middle, rounds.end(),
                   [](const round& a, const round& b) { return a.seconds < b.seconds; });
  return {middle->seconds, rounds.size()};
}

// Medians of both, each measured in turn for `seconds` together.
template <class Own, class Other>
void compare(const ranks::communicator& world, const char* call, std::size_t bytes, double seconds, Own own,
             Other other) {
  double once = std::max(measured(own, 3).seconds, measured(other, 3).seconds);
  world.all_reduce(&once, 1, "seconds", ranks::reduction::max);
  constexpr int rounds = 61;
  const int repetitions = std::clamp(static_cast<int>(seconds / 2 / rounds / once), 1, 5000);
  std::vector<round> of_own;
  std::vector<round> of_other;
  for (int i = 0; i < rounds; ++i) {
    of_own.push_back(measured(own, repetitions));
    of_other.push_back(measured(other, repetitions));
  }
  const auto [own_time, own_rounds] = median(world, of_own);
  const auto [other_time, other_rounds] = median(world, of_other);
  if (world.rank() == 0) {
    std::printf("%-14s %9zu %10.2f %10.2f %6.2f %5zu\n", call, bytes, 1e6 * own_time, 1e6 * other_time,
                own_time / other_time, std::min(own_rounds, other_rounds));
    std::fflush(stdout);
  }
}

void run(const ranks::communicator& world, double seconds, std::string_view only) {
  const std::size_t ranks = world.size();
  const std::size_t next = (world.rank() + 1) % ranks, previous = (world.rank() + ranks - 1) % ranks;
  if (world.rank() == 0) {
    std::printf("%-14s %9s %10s %10s %6s %5s  (%zu ranks)\n", "call", "bytes", "dimwise", "mpi", "ratio", "rounds",
                ranks);
  }
  const auto as_int = [](std::size_t n) { return static_cast<int>(n); };
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{256} << 10U, std::size_t{1} << 20U,
                                  std::size_t{4} << 20U, std::size_t{16} << 20U}) {
    const std::size_t count = bytes / sizeof(float), part = count / ranks;
    std::vector<float> mine(count, 1.0F);
    std::vector<float> result(count);
    const std::vector<std::size_t> parts(ranks, part);
    const std::vector<int> counts(ranks, as_int(part));
    std::vector<int> begins(ranks);
    for (std::size_t r = 0; r < ranks; ++r) { begins[r] = as_int(r * part); }
    const auto line = [&](const char* call, auto own, auto other) {
      if (only.empty() || only == call) { compare(world, call, bytes, seconds, own, other); }
    };
    line("all_reduce", [&] { world.all_reduce(mine.data(), result.data(), count); },
         [&] { (void)MPI_Allreduce(mine.data(), result.data(), as_int(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
    line("reduce_scatter", [&] { world.reduce_scatter(mine.data(), result.data(), parts.data()); }, [&] {
      (void)MPI_Reduce_scatter(mine.data(), result.data(), counts.data(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    });
    line("all_gather", [&] { world.all_gather(mine.data(), result.data(), parts.data()); }, [&] {
      (void)MPI_Allgatherv(mine.data(), as_int(part), MPI_FLOAT, result.data(), counts.data(), begins.data(), MPI_FLOAT,
                           MPI_COMM_WORLD);
    });
    line("all_to_all", [&] { world.all_to_all(mine.data(), parts.data(), result.data(), parts.data()); }, [&] {
      (void)MPI_Alltoallv(mine.data(), counts.data(), begins.data(), MPI_FLOAT, result.data(), counts.data(),
                          begins.data(), MPI_FLOAT, MPI_COMM_WORLD);
    });
    line("broadcast", [&] { world.broadcast(mine.data(), count, 0); },
         [&] { (void)MPI_Bcast(mine.data(), as_int(count), MPI_FLOAT, 0, MPI_COMM_WORLD); });
    line("permute", [&] { world.permute(mine.data(), count, next, result.data(), count, previous).wait(); }, [&] {
      (void)MPI_Sendrecv(mine.data(), as_int(count), MPI_FLOAT, as_int(next), 0, result.data(), as_int(count),
                         MPI_FLOAT, as_int(previous), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  }
}

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 2;
  const char* const only = count > 2 ? arguments[2] : "";
  return ranks::run([&](const ranks::communicator& world) { run(world, seconds, only); }, {.checks = false});
}
