// tests/tensor/random.test.cpp -- random tensors: the same numbers for the same seed, with the moments that they should
// have.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace dims;
using namespace dimwise;

template <class X>
bool same_elements(const X& a, const X& b) {
  return std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end());
}

}  // namespace

TEST_CASE("random: a seed says the same numbers again, another one others") {
  const auto x = random_normal<float, seq, d_k>(random_seed{1}, seq{5});
  CHECK(x.size() == 20);
  CHECK(same_elements(x, random_normal<float, seq, d_k>(random_seed{1}, seq{5})));
  CHECK(!same_elements(x, random_normal<float, seq, d_k>(random_seed{2}, seq{5})));
  const auto u = random_uniform<double, pair>(random_seed{42});
  // The first numbers of the engine for this seed, by the standard's definition of mt19937_64: 13930160852258120406 and
  // 11788048577503494824, their upper 53 bits over 2^53.
  CHECK(u.values()[0] == std::ldexp(static_cast<double>(13930160852258120406ULL >> 11U), -53));
  CHECK(u.values()[1] == std::ldexp(static_cast<double>(11788048577503494824ULL >> 11U), -53));
}

TEST_CASE("random: the moments of 100000 numbers") {
  // The mean of n numbers lies within 5 σ/√n of its own but once in two million seeds; this seed is fixed.
  const std::size_t n = 100000;
  const auto moments = [&](const auto& x) {
    double sum = 0;
    double squares = 0;
    for (const double v : x.values()) {
      sum += v;
      squares += v * v;
    }
    return std::pair(sum / static_cast<double>(n), squares / static_cast<double>(n));
  };
  const double bound = 5 / std::sqrt(static_cast<double>(n));
  const auto [mean_normal, squares_normal] = moments(random_normal<double, seq>(random_seed{7}, seq{n}));
  CHECK(std::fabs(mean_normal) < bound);
  CHECK(std::fabs(squares_normal - 1) < bound * std::sqrt(2.0));
  const auto uniform = random_uniform<double, seq>(random_seed{7}, seq{n});
  const auto [mean_uniform, squares_uniform] = moments(uniform);
  CHECK(std::fabs(mean_uniform - 0.5) < bound * std::sqrt(1.0 / 12));
  CHECK(std::fabs(squares_uniform - 1.0 / 3) < bound * 0.3);
  CHECK(std::all_of(uniform.values().begin(), uniform.values().end(), [](double v) { return v >= 0 && v < 1; }));
}
