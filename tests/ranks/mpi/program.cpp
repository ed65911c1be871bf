// tests/ranks/mpi/program.cpp -- a program on ranks, which tests/ranks/mpi/check.py runs alone, on threads and by
// mpirun.
//
//   program collectives     every collective against loops
//   program gradients       gradients through collectives against one rank
//   program attention       ring attention, its gradients, and KV caches that ranks share, against one rank
//   program layers          tensor-parallel layers and their gradients against one rank
//   program training        steps of a small GPT against those of one rank
//   program stages          the same of a GPT whose layers are divided
//   program MISTAKE         rank 1 makes the mistake, the others wait for it
//   program write FILE      writes a module that the ranks divide
//   program read FILE       reads it, on any number of ranks
//   program write-stages FILE, read-stages FILE    the same of a model whose layers are divided
//   program dies FILE       rank 0 is killed while it writes
// SPDX-License-Identifier: BSL-1.0
#include "../checks.hpp"
#include "../parted_module.hpp"
#include "attention.hpp"
#include "layers.hpp"
#include "ranks/training/gradient_checks.hpp"
#include "training.hpp"
#include <dimwise/ranks.hpp>

#include <chrono>
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

namespace ranks = dimwise::ranks;

template <std::size_t N>
struct axis {
  static constexpr std::size_t static_extent = N;
  [[nodiscard]] static std::size_t ranks() { return N; }
};
struct outer : axis<dimwise::at_run_time> {};
struct inner : axis<2> {};

// The module divided among N ranks: written, read, or written by a rank that is killed.
template <std::size_t N>
void run_checkpoint(const std::string& mode, const std::string& path, const ranks::communicator& world) {
  const ranks::mesh grid(world, parted::tp<N>{});
  const auto whole = parted::whole_module_of(7, 5);
  auto part = parted::part_of(whole, world.rank(), std::integral_constant<std::size_t, N>());
  if (mode == "dies") {
    parted::number(part.up, 77);   // other elements than the file has
    const rlimit limit{500, 500};  // bytes of a file: then a signal ends the process
    if (world.rank() == 0) { (void)setrlimit(RLIMIT_FSIZE, &limit); }
  }
  if (mode != "read") {
    ranks::save(part, path, grid);
  } else {
    auto read = part;
    parted::clear(read);
    ranks::load(read, dimwise::io::read_safetensors(path), grid);
    if (!parted::same(read, part)) { throw std::runtime_error("other elements were read"); }
  }
  world.barrier("the checkpoint");
  if (world.rank() == 0) { std::cout << mode << ": all right on " << N << " ranks\n" << std::flush; }
}

// Rank 1 throws while a long message to rank 0, which is `late`, is under way, and other elements are written where it
// was.
struct reused : std::vector<float> {
  using std::vector<float>::vector;
  reused(const reused&) = delete;
  reused& operator=(const reused&) = delete;
  ~reused() { assign(size(), 7); }
};
void send_and_throw(const ranks::communicator& all, bool is_bad, std::chrono::milliseconds late) {
  reused sent(400000, 1), received(400000, 0);
  const std::size_t partner = all.rank() < 2 ? 1 - all.rank() : ranks::no_rank;
  ranks::request both = all.permute(sent.data(), sent.size(), partner, received.data(), received.size(), partner);
  if (is_bad) { throw std::runtime_error("no such file"); }
  std::this_thread::sleep_for(late);
  both.wait();
  std::cout << "received " + std::to_string(received[0]) + "\n" << std::flush;
}

int run_mode(const std::string& mode, const std::string& path, const ranks::communicator& world) {
  if (mode == "write-stages" || mode == "read-stages") {
    mode == "write-stages" ? write_stages_on(world, path.c_str()) : read_stages_on(world, path.c_str());
    world.barrier("the stages");
    if (world.rank() == 0) { std::cout << mode << ": all right on " << world.size() << " ranks\n" << std::flush; }
    return 0;
  }
  if (!path.empty()) {
    world.size() == 1   ? run_checkpoint<1>(mode, path, world)
    : world.size() == 2 ? run_checkpoint<2>(mode, path, world)
                        : run_checkpoint<4>(mode, path, world);
    return 0;
  }
  const bool is_bad = world.rank() == 1;
  std::vector<float> values(world.rank() == 1 ? 3 : 4);
  if (mode == "collectives") {
    rank_checks::check_collectives(world);
    if (world.size() % 2 == 0) {
      const ranks::mesh<outer, inner> grid(world);
      rank_checks::check_collectives(grid.along<outer>());
      rank_checks::check_collectives(grid.along<inner>());
    }
    if (world.rank() == 0) { std::cout << "all right on " << world.size() << " ranks\n" << std::flush; }
    return 0;
  }
  if (mode == "gradients") {
    rank_checks::check_gradients(world);
    if (world.rank() == 0) { std::cout << "the gradients of one rank on " << world.size() << " ranks\n" << std::flush; }
    return 0;
  }
  if (mode == "attention") {
    check_attention(world);
    if (world.rank() == 0) { std::cout << "attention is right on " << world.size() << " ranks\n" << std::flush; }
    return 0;
  }
  if (mode == "layers") {
    check_layers_on(world);
    if (world.rank() == 0) { std::cout << "all layers right on " << world.size() << " ranks\n" << std::flush; }
    return 0;
  }
  if (mode == "training") {
    check_training_on(world);
    if (world.rank() == 0) { std::cout << "all steps right on " << world.size() << " ranks\n" << std::flush; }
    return 0;
  }
  if (mode == "stages") {
    check_stages_on(world);
    if (world.rank() == 0) { std::cout << "all stages right on " << world.size() << " ranks\n" << std::flush; }
    return 0;
  }
  if (mode == "caught") {
    const ranks::communicator all = world.split(0, "all");  // the end of the program needs the world
    try {
      ranks::detail::taking_part(all, "a reader", [&] {
        if (is_bad) { throw std::runtime_error("no such file"); }
        all.all_reduce(values.data(), 3, "gradient");
      });
    } catch (const std::exception& thrown) {
      std::cout << std::string("caught: ") + thrown.what() + "\n" << std::flush;
    }
    return 0;
  }
  if (mode == "freed" || mode == "rejoined" || mode == "elsewhere" || mode == "enters") {
    using namespace std::chrono_literals;
    const ranks::communicator all = world.split(0, "all");
    const ranks::communicator other = world.split(0, "other");
    if (mode == "rejoined") {  // all ranks have thrown before the same call, and go on
      all.withdraw(std::make_exception_ptr(std::runtime_error("an earlier one")));
      all.barrier();
    }
    try {
      ranks::detail::taking_part(mode == "elsewhere" ? other : all, "a reader", [&] {
        if (mode == "elsewhere") {  // rank 0 does not come to the message of rank 1
          const reused sent(is_bad ? 400000 : 0, 1);
          const ranks::request one = is_bad ? all.start_send(sent.data(), sent.size(), 0) : ranks::request();
          if (is_bad) { throw std::runtime_error("no such file"); }
          other.barrier();
        } else if (mode == "enters") {  // the last rank enters when all others have thrown
          reused sum(400000, 1);
          if (is_bad) { throw std::runtime_error("no such file"); }
          if (world.rank() + 1 == world.size()) { std::this_thread::sleep_for(1500ms); }
          all.all_reduce(sum.data(), sum.size(), "gradient");
        } else {
          send_and_throw(all, is_bad, mode == "rejoined" ? 1500ms : 300ms);
        }
      });
    } catch (const std::exception& thrown) {
      std::cout << std::string("caught: ") + thrown.what() + "\n" << std::flush;
    }
    return 0;
  }
  if (mode == "code") { return is_bad ? 7 : 0; }
  if (mode == "throws" && is_bad) { throw std::runtime_error("no such file"); }
  if (mode == "killed" && is_bad) { (void)std::raise(SIGKILL); }
  if (mode == "ends" && is_bad) { return 0; }
  if (mode == "late" && is_bad) { std::this_thread::sleep_for(std::chrono::seconds(60)); }
  if (mode == "differs" && is_bad) { world.barrier("after the epoch"); }
  // A message that is much longer than what MPI sends at once.
  if (mode == "shorter") { values.resize(is_bad ? 300000 : 400000); }
  world.all_reduce(values.data(), mode == "count" || mode == "shorter" ? values.size() : 3, "gradient");
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  return ranks::run([&](const ranks::communicator& world) {
    return run_mode(count > 1 ? arguments[1] : "", count > 2 ? arguments[2] : "", world);
  });
}
