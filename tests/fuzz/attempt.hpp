// tests/fuzz/attempt.hpp -- one attempt: what was drawn, what was compared, and what went wrong.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "source.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace fuzz {

/// What the self-test breaks on purpose, to see that it is found.
enum class breakage : unsigned char { nothing, value, plain, bits, plan, error, destination, guard };

/// How far random formulas go.
struct limits {
  std::size_t size = 130;                   ///< no extent is larger
  std::size_t work = std::size_t{1} << 18;  ///< nor is the product of all extents of a formula
};

/// What was wrong; `kind` is compared when a failure is shrunk.
struct failure {
  std::string kind;
  std::string text;
};

struct counts {
  std::size_t formulas = 0;
  std::size_t evaluations = 0;
  std::size_t refused = 0;   ///< formulas whose evaluation threw, in every way the same
  double largest = 0;        ///< the largest error of a kernel's result, in units of what is allowed
  double largest_plain = 0;  ///< the same of the scalar path
};

/// Extents to draw from: around the borders of tiles and vectors.
struct range {
  std::size_t least = 0;
  std::size_t most = 130;
};

class attempt {
 public:
  attempt(std::uint64_t seed, const limits& to, bool telling, breakage broken)
      : random(seed), to_(to), telling_(telling), broken_(broken) {}

  source random;

  [[nodiscard]] bool telling() const { return telling_; }
  [[nodiscard]] breakage broken() const { return broken_; }
  /// Facts of this attempt, for the line that is printed when it fails.
  void note(const std::string& fact) {
    if (telling_) { notes_ += " | " + fact; }
  }
  [[nodiscard]] const std::string& notes() const { return notes_; }

  std::size_t extent(range r = {});
  /// Several extents of one formula, whose product stays within the limits.
  template <std::size_t N>
  std::array<std::size_t, N> extents(const range (&ranges)[N]) {
    std::array<std::size_t, N> all{};
    for (std::size_t i = 0; i < N; ++i) { all[i] = extent(ranges[i]); }
    shorten(all, ranges);
    return all;
  }

  /// Hidden elements are NaN or infinite. A product that gives NaN by them is done again by the scalar path, which no
  /// plan can know.
  void poisoned() { poisoned_ = true; }
  [[nodiscard]] bool is_poisoned() const { return poisoned_; }

  void fail(std::string kind, std::string text) {
    if (failed()) { return; }  // the first one says most
    failure_ = {static_cast<std::string&&>(kind), static_cast<std::string&&>(text)};
  }
  [[nodiscard]] bool failed() const { return !failure_.kind.empty(); }
  [[nodiscard]] const failure& what() const { return failure_; }

  counts counted;

 private:
  void shorten(std::span<std::size_t> all, std::span<const range> ranges) const;

  limits to_;
  bool telling_;
  breakage broken_;
  bool poisoned_ = false;
  std::string notes_;
  failure failure_;
};

/// A formula of the language whose operands, layouts, extents, masks and values are random.
struct family {
  const char* name;
  void (*run)(attempt& a);
};

/// Registers the families of a file.
struct families_of_file {
  families_of_file(std::initializer_list<family> of_file);
};

/// What is registered, in the order of the names.
std::vector<family> every_family();

}  // namespace fuzz
