// dimwise/kernels/optimiser.hpp -- the Adam step in one pass over memory, and sums of squares.
//
// Layer: kernels. Includes: gradient_table.hpp, reduce.hpp, quantised/rows.hpp.
// Tests: tests/kernels/optimiser.test.cpp
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/gradient_table.hpp>
#include <dimwise/kernels/quantised/rows.hpp>
#include <dimwise/kernels/rows/reduce.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

/// One step of Adam (gradient_table.hpp): reads four numbers and writes three per element, without temporaries.
template <class Arch = default_arch>
void adam_step(const adam_call_of<element_of<Arch>>& c) noexcept {
  using vec = floats<Arch>;
  const vec decay = broadcast<Arch>(c.decay);
  const vec size = broadcast<Arch>(-c.size);
  const vec root = broadcast<Arch>(c.root);
  detail::for_columns<Arch>(c.n, [&](std::size_t i, std::size_t count) __attribute__((always_inline)) {
    const vec p = detail::load_some<Arch>(c.parameter + i, count);
    const vec g = fma<Arch>(decay, p, detail::load_some<Arch>(c.gradient + i, count));
    const vec m = fma<Arch>(broadcast<Arch>(c.first_kept), detail::load_some<Arch>(c.first + i, count),
                            broadcast<Arch>(c.first_added) * g);
    const vec v = fma<Arch>(broadcast<Arch>(c.second_kept), detail::load_some<Arch>(c.second + i, count),
                            broadcast<Arch>(c.second_added) * (g * g));
    const vec step = m / fma<Arch>(xsimd::sqrt(v), root, broadcast<Arch>(c.epsilon));
    detail::store_some<Arch>(c.first + i, count, m);
    detail::store_some<Arch>(c.second + i, count, v);
    detail::store_some<Arch>(c.parameter + i, count, fma<Arch>(size, step, broadcast<Arch>(c.kept) * p));
  });
}

namespace detail {

// The sum of x² of one block.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline double sum_of_squares_block(std::size_t n,
                                                                     const element_of<Arch>* x) noexcept {
  // The square of a float is exact in float64: widens each register of floats to two of doubles; four independent sums.
  constexpr std::size_t wide = in_doubles<Arch> ? lanes<Arch> : lanes<Arch> / 2;
  using doubles = vector_of_t<double, wide>;
  using halves = vector_of_t<element_of<Arch>, wide>;
  doubles sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 * wide <= n; i += 4 * wide) {
#pragma GCC unroll 4
    for (std::size_t j = 0; j < 4; ++j) {
      halves part;
      __builtin_memcpy(&part, x + i + j * wide, sizeof(halves));
      const doubles d = __builtin_convertvector(part, doubles);
      sums[j] += d * d;
    }
  }
  const doubles all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  double total = 0;
  for (std::size_t j = 0; j < wide; ++j) total += all[j];
  for (; i < n; ++i) total += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return total;
}

// The same for several blocks, with carried sums.
template <class Arch>
[[nodiscard, gnu::noinline]] double sum_of_many_squares(std::size_t n, std::size_t block,
                                                        const element_of<Arch>* x) noexcept {
  carried_sum<double> sum;
  for (std::size_t at = 0; at < n; at += block) {
    sum += sum_of_squares_block<Arch>(n - at < block ? n - at : block, x + at);
  }
  return sum.value();
}

}  // namespace detail

/// The sum of x² in float64.
template <class Arch = default_arch>
[[nodiscard]] double sum_of_squares(std::size_t n, const element_of<Arch>* x) noexcept {
  constexpr std::size_t block = 256 * lanes<Arch>;
  return n > block ? detail::sum_of_many_squares<Arch>(n, block, x) : detail::sum_of_squares_block<Arch>(n, x);
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
