// SPDX-License-Identifier: BSL-1.0
// exercises/support/exercise.hpp -- the header of every exercise: the library, test values, checks of results.
//
// The runner (run.py) precompiles it, so that a try takes a second or two.
#pragma once

#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <vector>

namespace course {

/// A tensor of test values, different for each seed; pass run-time extents as to a constructor.
template <class Tensor, class... Extents>
Tensor some(unsigned seed, const Extents&... extents) {
  Tensor x(extents...);
  std::vector<float> values(x.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(std::sin(1.7 * static_cast<double>(i + 1) + seed));
  }
  x.assign(values);
  return x;
}

/// Whether the elements, in memory order, equal these up to rounding.
template <class X>
bool near(const X& x, std::initializer_list<float> wanted) {
  const dimwise::tensor t = x;
  bool same = t.size() == wanted.size();
  for (std::size_t i = 0; same && i < wanted.size(); ++i) {
    same = std::fabs(static_cast<float>(t.values()[i]) - wanted.begin()[i]) < 1e-4F;
  }
  return same;
}

/// Exits with the line of the call if the condition does not hold. (clang 14 lacks source_location.)
inline void expect(bool holds, const char* what, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (holds) { return; }
  std::fprintf(stderr, "%s:%d: not as expected: %s\n", file, line, what);
  std::exit(1);
}

/// Prints the message of an uncaught exception, and exits.
[[noreturn]] inline void print_exception() {
  try {
    if (const auto thrown = std::current_exception()) { std::rethrow_exception(thrown); }
  } catch (const std::exception& e) { std::fprintf(stderr, "an exception was thrown: %s\n", e.what()); } catch (...) {
    std::fprintf(stderr, "an exception was thrown\n");
  }
  std::_Exit(1);
}
inline const std::terminate_handler default_handler = std::set_terminate(print_exception);

}  // namespace course
