// benchmarks/ranks/bench_ranks.cpp -- the collectives of dimwise against MPI's own calls, in one run.
//
//   mpirun -n 2 bench_ranks [seconds per line] [call]
//
// Prints `call bytes dimwise_us mpi_us ratio`: medians of the slowest rank, the two in turn. The mark is a ratio of at
// most 1.5 from 256 KiB on. MPI_Allreduce chooses the order of its additions; dimwise adds in the order of the ranks.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/ranks/mpi.hpp>

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
    std::printf("%-14s %9zu %10.2f %10.2f %6.2f\n", call, bytes, 1e6 * of_own[15], 1e6 * of_other[15],
                of_own[15] / of_other[15]);
    std::fflush(stdout);
  }
}

void run(const ranks::communicator& world, double seconds, std::string_view only) {
  const std::size_t ranks = world.size();
  const std::size_t next = (world.rank() + 1) % ranks, previous = (world.rank() + ranks - 1) % ranks;
  if (world.rank() == 0) {
    std::printf("%-14s %9s %10s %10s %6s  (%zu ranks)\n", "call", "bytes", "dimwise", "mpi", "ratio", ranks);
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
