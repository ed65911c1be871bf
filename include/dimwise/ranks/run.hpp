// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/run.hpp -- runs a program on the ranks that there are: MPI's, threads, or one.
//
// Layer: ranks. The target dimwise::mpi adds MPI: it compiles src/mpi.cpp into the program, which registers the
// backend.
// Tests: tests/ranks/mpi/, tests/ranks/run.test.cpp
//
//   int main() {
//     return dimwise::ranks::run([](const dimwise::ranks::communicator& world) { … });
//   }
//
//   program                    one rank
//   mpirun -n 4 program        four processes
//   DIMWISE_RANKS=4 program    four threads
#pragma once

#include <dimwise/ranks/threads.hpp>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks {
namespace detail {

// The backend of processes, which ranks/mpi.hpp registers.
struct process_backend {
  // The group of all processes.
  std::shared_ptr<group> (*start)() = nullptr;
  // Ends all processes; does not return.
  void (*abort)() = nullptr;
  // After the last message.
  void (*finish)() = nullptr;
};
inline process_backend processes;

// The value of an environment variable that is a whole number; `otherwise` if it is not set.
inline std::size_t number_from_environment(const char* name, std::size_t otherwise, std::size_t largest) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before threads start
  if (text == nullptr || *text == '\0') { return otherwise; }
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value > largest) {
    dimwise::detail::raise<number_error>(error{} << name << " is \"" << text << "\", a whole number up to " << largest
                                                 << " was expected");
  }
  return static_cast<std::size_t>(value);
}

inline options options_from_environment(options how) {
  how.checks = number_from_environment("DIMWISE_RANKS_CHECKS", how.checks ? 1 : 0, 1) != 0;
  constexpr std::size_t not_set = 31536001;
  const std::size_t seconds = number_from_environment("DIMWISE_RANKS_LIMIT", not_set, not_set - 1);
  if (seconds != not_set) { how.limit = std::chrono::seconds(seconds); }
  return how;
}

// Programs that mpirun started without the backend would each be rank 0 of 1.
inline void reject_missing_backend() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const std::size_t started = number_from_environment(name, 1, 1U << 30U);
    if (started > 1) {
      throw rank_error("run: " + std::to_string(started) + " processes were started (" + name +
                       "), but the program has no backend for them: link the target dimwise::mpi");
    }
  }
}

inline void print_error(const std::string& text) { std::cerr << text + '\n' << std::flush; }

inline int run_processes(const std::shared_ptr<group>& all, const std::function<int(const communicator&)>& f,
                         options how) {
  try {
    const communicator world(all, how);
    const int code = f(world);
    world.barrier("end of the program");
    return code;
  } catch (...) {
    const std::exception_ptr thrown = std::current_exception();
    print_error("rank " + std::to_string(all->rank()) + " of " + std::to_string(all->size()) + ": " + text_of(thrown));
    processes.abort();
    return EXIT_FAILURE;
  }
}

inline int run(const std::function<int(const communicator&)>& f, options how) {
  try {
    how = options_from_environment(how);
    if (processes.start != nullptr) {
      std::shared_ptr<group> all = processes.start();
      if (all->size() > 1) {
        const int code = run_processes(all, f, how);
        all = nullptr;
        processes.finish();
        return code;
      }
      all = nullptr;
      processes.finish();
    } else {
      reject_missing_backend();
    }
    std::atomic<int> first_code = 0;
    const std::size_t count = number_from_environment("DIMWISE_RANKS", 1, 1U << 16U);
    run_threads(count, [&](const communicator& world) {
      int none = 0;
      const int code = f(world);
      if (code != 0) { first_code.compare_exchange_strong(none, code); }
    }, how);
    return first_code;
  } catch (...) {
    print_error(text_of(std::current_exception()));
    return EXIT_FAILURE;
  }
}

}  // namespace detail

/// Calls `f(world)` on every rank: on the processes of mpirun in a program that links dimwise::mpi, otherwise on as
/// many threads as the environment variable DIMWISE_RANKS says, or on one. Returns what `main` returns: the result of
/// `f` if it is an `int`, otherwise 0; 1 after an exception.
///
/// An exception that leaves `f` is printed with its rank, and ends all ranks. The environment variables
/// DIMWISE_RANKS_CHECKS (0 or 1) and DIMWISE_RANKS_LIMIT (seconds) replace the options.
template <class F>
[[nodiscard]] int run(F&& f, options how = {.checks = DIMWISE_DETAIL_CHECKS_RANKS}) {
  return detail::run([&](const communicator& world) {
    if constexpr (std::is_same_v<decltype(f(world)), int>) {
      return f(world);
    } else {
      (void)f(world);
      return 0;
    }
  }, how);
}

}  // namespace dimwise::ranks
DIMWISE_DETAIL_TEXT_END;
