// benchmarks/ranks/bench_ranks.cpp -- all_reduce and permute of dimwise against MPI's own calls, in one run.
//
//   mpirun -n 2 bench_ranks [seconds per line]
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

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 2;
  return ranks::run([&](const ranks::communicator& world) { run(world, seconds); }, {.checks = false});
}
