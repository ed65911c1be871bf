// src/programs/generate/ranks.hpp -- dimwise-generate on several ranks: errors that reach the user once, and the
// program that mpirun starts.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../common.hpp"
#include <dimwise/ranks/messages/gather_texts.hpp>
#include <dimwise/ranks/run.hpp>

#include <optional>
#include <stdexcept>
#include <system_error>
#include <type_traits>

namespace programs {

/// An error that all ranks throw.
struct common_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What `f` returns. If it throws on a rank, all ranks throw `common_error` with the different texts; those of some
/// ranks only begin with the number of a rank. `f` calls no collective.
template <class F>
std::invoke_result_t<F> together(const dimwise::ranks::communicator& world, const F& f) {
  if (world.size() == 1) { return f(); }
  std::optional<std::invoke_result_t<F>> result;
  std::string text;
  try {
    result.emplace(f());
  } catch (const std::bad_alloc&) { text = "the memory is exhausted"; } catch (const std::exception& e) {
    text = e.what();
  }
  const std::string merged = dimwise::ranks::merge_texts(dimwise::ranks::gather_texts(world, text, "errors"));
  if (!merged.empty()) { throw common_error(merged); }
  return std::move(*result);
}

/// The parameters of all ranks, and the bytes of the rank that has most.
class sizes_of_ranks {
 public:
  sizes_of_ranks(const dimwise::ranks::communicator& world, std::size_t parameters, std::size_t bytes)
      : ranks_(world.size()),
        parameters_(static_cast<std::int64_t>(parameters)),
        bytes_(static_cast<std::int64_t>(bytes)) {
    world.all_reduce(&parameters_, 1, "parameters");
    world.all_reduce(&bytes_, 1, "bytes", dimwise::ranks::reduction::max);
  }
  [[nodiscard]] std::int64_t parameters() const { return parameters_; }
  [[nodiscard]] std::int64_t most_bytes() const { return bytes_; }
  [[nodiscard]] std::string ranks_text() const { return ranks_ == 1 ? "" : " on " + std::to_string(ranks_) + " ranks"; }
  [[nodiscard]] std::string bytes_text() const { return ranks_ == 1 ? "" : " at most on a rank"; }

 private:
  std::size_t ranks_;
  std::int64_t parameters_;
  std::int64_t bytes_;
};

/// As `guarded`, on several ranks: the first one prints what all of them have to say. An exception of one rank is that
/// of `ranks::run`, which ends the others.
template <class Run>
int guarded_together(const dimwise::ranks::communicator& world, CLI::App& app, int argc, char** argv, const Run& run) {
  const bool prints = world.rank() == 0;
  add_version(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::ostream none(nullptr);
    const int code = prints ? app.exit(e) : app.exit(e, none, none);
    if (prints) { finish_output(); }
    return code;
  }
  try {
    if (prints) { expect_output(); }
    const int code = run();
    if (prints) { finish_output(); }
    return code;
  } catch (const common_error& e) {
    if (prints) { print_error(app, e.what()); }
    return 1;
  }
}

/// Prepares the processes of mpirun. A program without MPI continues as the one beside it that has MPI; so users
/// without MPI need no library of it. Returns false, after an error on stderr, if there is none.
inline bool find_processes(char** argv) {
  if (dimwise::ranks::detail::processes.start != nullptr) { return true; }
  const auto number = [](const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? 0L : std::strtol(text, nullptr, 10);
  };
  const long count = std::max(number("OMPI_COMM_WORLD_SIZE"), number("PMI_SIZE"));
  if (count <= 1) { return true; }
  std::error_code none;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", none);
  const std::string other = self.string() + "-mpi";
  if (!none) { ::execv(other.c_str(), argv); }  // returns only if it fails
  if (std::max(number("OMPI_COMM_WORLD_RANK"), number("PMI_RANK")) == 0) {
    std::fprintf(stderr,
                 "dimwise-generate: %ld processes were started, but %s is not there: it is built if MPI is installed\n",
                 count, other.c_str());
  }
  return false;
}

}  // namespace programs
