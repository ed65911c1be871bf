// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/loops/rows.hpp -- softmax, norms, cumulative sums and other functions of one row, by loops.
//
// Layer: kernels. A row may have several axes with any strides.
// Tests: tests/expr/rows/*.test.cpp
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/loops/nest.hpp>
#include <dimwise/kernels/rows/carried_sum.hpp>
#include <dimwise/support/math.hpp>

#include <cstddef>
#include <limits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

template <class T>
inline constexpr T minus_infinity = -std::numeric_limits<T>::infinity();

/// The maximum of a row; NaN if an element is NaN, −∞ without elements.
template <class T>
[[nodiscard]] T row_max(const loop_nest<2>& row, const T* from) {
  T largest = minus_infinity<T>;
  bool nan = false;
  for_each_element(row, [&](std::ptrdiff_t, std::ptrdiff_t f) {
    const T x = from[f];
    nan = nan || x != x;
    largest = x > largest ? x : largest;
  });
  return nan ? std::numeric_limits<T>::quiet_NaN() : largest;
}

/// Σ term(to offset, from offset) over a row; long rows have blocks with carried sums.
template <class T, class Term>
[[nodiscard]] T sum_of_row(const loop_nest<2>& row, const Term& term) {
  constexpr std::size_t block = detail_loops::sum_block;
  const bool is_long = row.size() > block;
  T few = T(0);
  carried_sum<T> total;
  for_each_row(row, [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&s)[2]) {
    std::ptrdiff_t t = o[0];
    std::ptrdiff_t f = o[1];
    while (n > 0) {
      std::size_t count = n < block ? n : block;
      n -= count;
      T part = few;
      for (; count > 0; --count, t += s[0], f += s[1]) { part += term(t, f); }
      if (is_long) {
        total += part;
      } else {
        few = part;
      }
    }
  });
  return is_long ? total.value() : few;
}

/// exp(x − max) / Σ of a row, `hidden` for x of −∞; a fully hidden row is all `hidden`.
template <class T>
void softmax_row(const loop_nest<2>& row, T* to, const T* from, T hidden) {
  const T largest = row_max(row, from);
  const T total = sum_of_row<T>(row, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    const T x = from[f];
    const T e = x == minus_infinity<T> ? hidden : dimwise::detail::math::exp(x - largest);
    to[t] = e;
    return e;
  });
  if (largest == minus_infinity<T>) { return; }
  for_each_element(row, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    if (from[f] != minus_infinity<T>) { to[t] /= total; }
  });
}

template <class T>
void log_softmax_row(const loop_nest<2>& row, T* to, const T* from) {
  const T largest = row_max(row, from);
  const T total = sum_of_row<T>(row, [&](std::ptrdiff_t, std::ptrdiff_t f) {
    return from[f] == minus_infinity<T> ? T(0) : dimwise::detail::math::exp(from[f] - largest);
  });
  const T shift = dimwise::detail::math::log(total);
  for_each_element(row, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    to[t] = from[f] == minus_infinity<T> ? minus_infinity<T> : from[f] - largest - shift;
  });
}

/// x / Σ x; a row whose sum is 0 stays 0.
template <class T>
void renormalise_row(const loop_nest<2>& row, T* to, const T* from) {
  const T total = sum_of_row<T>(row, [&](std::ptrdiff_t, std::ptrdiff_t f) { return from[f]; });
  for_each_element(row, [&](std::ptrdiff_t t, std::ptrdiff_t f) { to[t] = total == T(0) ? T(0) : from[f] / total; });
}

/// (x − mean) / √(variance + ε). The mean is corrected for the rounding error of its sum; the variance is a second
/// pass.
template <class T>
void standardize_row(const loop_nest<2>& row, T* to, const T* from, T epsilon) {
  const T count = static_cast<T>(row.size());
  const T near = sum_of_row<T>(row, [&](std::ptrdiff_t, std::ptrdiff_t f) { return from[f]; }) / count;
  const T rest = sum_of_row<T>(row, [&](std::ptrdiff_t, std::ptrdiff_t f) { return from[f] - near; });
  const T mean = near + rest / count;
  const T squares =
      sum_of_row<T>(row, [&](std::ptrdiff_t, std::ptrdiff_t f) { return (from[f] - mean) * (from[f] - mean); });
  const T scale = T(1) / dimwise::detail::math::sqrt(squares / count + epsilon);
  for_each_element(row, [&](std::ptrdiff_t t, std::ptrdiff_t f) { to[t] = (from[f] - mean) * scale; });
}

/// x / √(mean x² + ε)
template <class T>
void root_mean_square_row(const loop_nest<2>& row, T* to, const T* from, T epsilon) {
  const T squares = sum_of_row<T>(row, [&](std::ptrdiff_t, std::ptrdiff_t f) { return from[f] * from[f]; });
  const T count = static_cast<T>(row.size());
  const T scale = T(1) / dimwise::detail::math::sqrt(squares / count + epsilon);
  for_each_element(row, [&](std::ptrdiff_t t, std::ptrdiff_t f) { to[t] = from[f] * scale; });
}

/// Rounds blocks of 32 neighbours to multiples of their largest magnitude / 127, to nearest, ties to even: the values
/// of 8-bit integers with a scale. Computed in float, so that the integers are the same for every type. A block with an
/// element that is not finite is NaN.
template <class T>
void quantised_row(const loop_nest<2>& row, T* to, const T* from) {
  constexpr std::size_t extent = 32;
  std::ptrdiff_t places[extent];
  float numbers[extent];
  std::size_t count = 0;
  const auto finish = [&] {
    float largest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const float size = dimwise::detail::math::fabs(numbers[i]);
      largest = size > largest || size != size ? size : largest;
      if (largest != largest) { break; }
    }
    const float scale = largest / 127.0F;
    const float inverse = scale == 0.0F ? 0.0F : 127.0F / largest;
    for (std::size_t i = 0; i < count; ++i) {
      const float number = dimwise::detail::math::nearbyint(numbers[i] * inverse);
      to[places[i]] = largest - largest == 0.0F ? T(number) * T(scale) : std::numeric_limits<T>::quiet_NaN();
    }
    count = 0;
  };
  for_each_element(row, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    places[count] = t;
    numbers[count] = static_cast<float>(from[f]);
    if (++count == extent) { finish(); }
  });
  finish();
}

/// Σ of the elements up to each one.
template <class T>
void cumsum_row(const loop_nest<2>& row, T* to, const T* from) {
  carried_sum<T> total;
  for_each_element(row, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    total += from[f];
    to[t] = total.value();
  });
}

/// Π of the elements up to each one.
template <class T>
void cumprod_row(const loop_nest<2>& row, T* to, const T* from) {
  T total = T(1);
  for_each_element(row, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    total = static_cast<T>(total * from[f]);
    to[t] = total;
  });
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
