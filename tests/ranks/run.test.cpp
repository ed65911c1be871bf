// tests/ranks/run.test.cpp -- how a program chooses its ranks: one, or threads (std::thread) by an environment
// variable. tests/ranks/mpi/ has the processes of mpirun.
// SPDX-License-Identifier: BSL-1.0
#include "support/threads.hpp"
#include <dimwise/ranks/run.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

namespace ranks = dimwise::ranks;

// Sets a variable until the end of the test.
class setting {
 public:
  setting(const char* name, const char* value) : name_(name) { (void)::setenv(name, value, 1); }
  setting(const setting&) = delete;
  setting& operator=(const setting&) = delete;
  ~setting() { (void)::unsetenv(name_); }

 private:
  const char* name_;
};

// The result of a program, and what it prints as its error.
template <class F>
std::pair<int, std::string> run(F f, ranks::options how = {}) {
  std::ostringstream text;
  std::streambuf* before = std::cerr.rdbuf(text.rdbuf());
  const int code = ranks::run(f, how);
  std::cerr.rdbuf(before);
  return {code, text.str()};
}

TEST_CASE("a program without settings has one rank" * support::threads) {
  std::size_t size = 0;
  const auto [code, text] = run([&](const ranks::communicator& world) { size = world.size(); });
  CHECK(code == 0);
  CHECK(text.empty());
  CHECK(size == 1);
}

TEST_CASE("DIMWISE_RANKS starts threads" * support::threads) {
  const setting count("DIMWISE_RANKS", "3");
  std::atomic<std::size_t> sizes = 0;
  const auto [code, text] = run([&](const ranks::communicator& world) {
    sizes += world.size();
    world.barrier();
  });
  CHECK(code == 0);
  CHECK(sizes == 9);
}

TEST_CASE("the result of a thread is the result of the program" * support::threads) {
  const setting count("DIMWISE_RANKS", "3");
  const auto [code, text] = run([](const ranks::communicator& world) { return world.rank() == 1 ? 7 : 0; });
  CHECK(code == 7);
}

TEST_CASE("an exception of a thread is printed with its rank" * support::threads) {
  const setting count("DIMWISE_RANKS", "3");
  const auto [code, text] = run([](const ranks::communicator& world) {
    if (world.rank() == 1) { throw std::runtime_error("no such file"); }
    world.barrier();
  });
  CHECK(code == 1);
  CHECK(text == "rank 1 of 3: no such file\n");
}

TEST_CASE("the environment replaces the options of threads" * support::threads) {
  const setting count("DIMWISE_RANKS", "2");
  const setting limit("DIMWISE_RANKS_LIMIT", "1");
  const setting checks("DIMWISE_RANKS_CHECKS", "0");
  std::atomic<int> checked = 0;
  const auto [code, text] = run([&](const ranks::communicator& world) {
    checked += world.is_checked() ? 1 : 0;
    if (world.rank() == 1) { std::this_thread::sleep_for(std::chrono::milliseconds(1500)); }
    world.barrier();
  });
  CHECK(code == 1);
  CHECK(checked == 0);
  CHECK(text.find("has waited 1 s for rank 1 in barrier") != std::string::npos);
}

TEST_CASE("settings that are no numbers are rejected" * support::threads) {
  for (const char* value : {"many", "-1", "3 ", "1.5", "99999999999999999999"}) {
    const setting count("DIMWISE_RANKS", value);
    const auto [code, text] = run([](const ranks::communicator&) {});
    CHECK(code == 1);
    CHECK(text.find(std::string("DIMWISE_RANKS is \"") + value + "\", a whole number up to 65536 was expected") == 0);
  }
  const setting checks("DIMWISE_RANKS_CHECKS", "2");
  CHECK(run([](const ranks::communicator&) {}).second.find("a whole number up to 1 was expected") != std::string::npos);
}

TEST_CASE("processes of mpirun that are not linked with dimwise::mpi are rejected" * support::threads) {
  const setting size("OMPI_COMM_WORLD_SIZE", "4");
  const auto [code, text] = run([](const ranks::communicator&) {});
  CHECK(code == 1);
  CHECK(text.find("4 processes were started (OMPI_COMM_WORLD_SIZE)") != std::string::npos);
  CHECK(text.find("link the target dimwise::mpi") != std::string::npos);
}

}  // namespace
