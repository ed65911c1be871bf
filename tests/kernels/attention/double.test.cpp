// tests/kernels/attention/double.test.cpp -- the fused attention kernel of doubles against the formula in long double.
//
// Built once per architecture: everything here uses default_arch, so the compiler's flags choose.
//
// SPDX-License-Identifier: BSL-1.0
#include "kernels/attention/cases.hpp"
#include "kernels/kernel_test_support.hpp"
#include "support/threads.hpp"
#include <dimwise/kernels/attention/forward.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace {

namespace kernels = dimwise::kernels;
using arch = kernels::in_double<kernels::default_arch>;
using kernels::key_window;
using layout_type = kernels::attention_layout_of<double>;
using support::racing_executor;
using support::scratch_memory;

constexpr std::size_t strip = kernels::detail::strip_width<arch>;
constexpr std::size_t block = kernels::detail::block_keys;

layout_type extents(std::size_t queries, std::size_t keys, std::size_t head_dim, std::size_t value_dim) {
  return reference::extents<double>(queries, keys, head_dim, value_dim);
}

void run(const reference::problem_of<double>& p) {
  scratch_memory scratch(kernels::attention_scratch_bytes<arch>(p.layout));
  kernels::serial_executor executor;
  kernels::attention<arch>(p.layout, &p.head, 1, scratch.get(), executor);
  CHECK(scratch.intact());
}

TEST_CASE("attention in double: every tail of the tiles") {
  std::mt19937 random(1);
  for (const std::size_t queries : {std::size_t{1}, strip - 1, strip, strip + 1, 2 * strip + 3}) {
    for (const std::size_t keys : {std::size_t{1}, std::size_t{5}, std::size_t{6}, std::size_t{7}, block, block + 11}) {
      for (const std::size_t features : {1, 2, 3, 4, 5, 6, 7, 11, 16, 17, 33}) {
        CAPTURE(queries);
        CAPTURE(keys);
        CAPTURE(features);
        const auto p = reference::make_problem(extents(queries, keys, features, 34 - features), random, 3);
        run(p);
        CHECK(reference::largest_error(p) <= 2.0);
      }
    }
  }
}

TEST_CASE("attention in double: error over random shapes, windows and magnitudes") {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const reference::picker pick{random};
    layout_type layout = extents(pick(1, 150), pick(1, 300), pick(1, 130), pick(1, 130));
    layout.window = reference::random_window(pick(0, 3), static_cast<std::ptrdiff_t>(pick(0, 100)) - 50, pick);
    auto p = reference::make_problem(layout, random, pick(0, 1) * pick(1, 200), pick(0, 1) == 0 ? 1.0 : 3.0);
    if (pick(0, 3) == 0) p.head.visible_keys = pick(0, p.layout.keys);
    run(p);
    CAPTURE(round);
    CHECK(reference::largest_error(p) <= 2.0);
  }
}

TEST_CASE("attention in double: windows at every edge") {
  std::mt19937 random(3);
  for (const std::ptrdiff_t offset : {-70, 0, 1, 95, 300}) {
    for (const std::ptrdiff_t before : {std::ptrdiff_t{0}, std::ptrdiff_t{40}, key_window::unbounded}) {
      for (const std::ptrdiff_t after : {std::ptrdiff_t{-3}, std::ptrdiff_t{0}, std::ptrdiff_t{17}}) {
        CAPTURE(offset);
        CAPTURE(before);
        CAPTURE(after);
        layout_type layout = extents(2 * strip + 9, 230, 20, 13);
        layout.window = {before, after, offset};
        const auto p = reference::make_problem(layout, random);
        run(p);
        CHECK(reference::largest_error(p) <= 2.0);
      }
    }
  }
}

TEST_CASE("attention in double: strides of features, rows and repeated rows") {
  std::mt19937 random(4);
  auto p = reference::make_problem(extents(70, 130, 19, 23), random);
  reference::in_other_strides(p);
  run(p);
  CHECK(reference::largest_error(p) <= 2.0);
}

TEST_CASE("attention in double: bias and boolean masks of any stride") {
  std::mt19937 random(5);
  for (const bool causal : {false, true}) {
    for (int kind = 0; kind < reference::kinds_of_strides; ++kind) {
      CAPTURE(causal);
      CAPTURE(kind);
      layout_type layout = extents(strip + 20, 140, 9, 7);
      if (causal) layout.window = key_window::causal(3);
      const auto p = reference::with_bias_and_mask(layout, kind, random);
      run(p);
      CHECK(reference::largest_error(p) <= 2.0);
    }
  }
}

TEST_CASE("attention in double: a row that sees nothing is exactly 0, its lse -inf") {
  std::mt19937 random(7);
  auto p = reference::make_problem(extents(strip + 2, 100, 8, 8), random);
  reference::hide_all_keys(p);
  run(p);
  for (const double x : p.out) CHECK(x == 0.0);
  for (const double x : p.lse) CHECK(x == -std::numeric_limits<double>::infinity());
}

TEST_CASE("attention in double: what is hidden has no effect, what is visible reaches its rows only") {
  std::mt19937 random(8);
  layout_type layout = extents(strip + 30, 150, 10, 9);
  layout.window = key_window::causal(20);
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), infinite, -infinite}) {
    for (const std::size_t key : {std::size_t{0}, std::size_t{21}, std::size_t{95}, std::size_t{96}}) {
      reference::each_poisoned(layout, key, value, random, [](const auto& p) {
        run(p);
        CHECK(reference::largest_error(p) <= 2.0);
      });
    }
  }
}

TEST_CASE("attention in double: extents of zero") {
  std::mt19937 random(10);
  for (int which = 0; which < 4; ++which) {
    CAPTURE(which);
    const auto p = reference::with_an_extent_of_zero<double>(which, random);
    run(p);
    if (which != 3) CHECK(reference::largest_error(p) <= 2.0);
  }
}

TEST_CASE("attention in double: the same bits from any number of threads" * support::threads) {
  std::mt19937 random(11);
  layout_type layout = extents(5 * strip + 7, 333, 24, 20);
  layout.window = key_window::causal(10);
  auto p = reference::make_problem(layout, random);
  run(p);
  const std::vector<double> first = p.out;
  for (const std::size_t workers : {2, 5}) {
    std::fill(p.out.begin(), p.out.end(), 0.0);
    racing_executor racing{workers};
    scratch_memory many(kernels::attention_scratch_bytes<arch>(p.layout, workers));
    kernels::attention<arch>(p.layout, &p.head, 1, many.get(), racing);
    CHECK(many.intact());
    CHECK(std::memcmp(first.data(), p.out.data(), first.size() * sizeof(double)) == 0);
  }
}

TEST_CASE("attention in double: scratch fits in a second-level cache") {
  CHECK(kernels::attention_scratch_bytes<arch>(extents(4096, 4096, 128, 128)) <= std::size_t{768} << 10);
}

}  // namespace
