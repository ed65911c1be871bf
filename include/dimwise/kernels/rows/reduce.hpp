// dimwise/kernels/rows/reduce.hpp -- sums, means, maxima, minima and norms of a contiguous row or down a matrix's
// columns.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
// Tests: tests/kernels/rows/forward.test.cpp
//
// `..._row` reduces n contiguous floats to one. `..._columns` reduces `extent` rows that are `stride` apart to one row:
// lanes are columns and stay independent. Without elements, the sum and the norm are 0, the maximum is -inf, the
// minimum +inf, the mean NaN.
//
// 1. Scalar loops (kernels/loops.hpp). 2. A row in four independent reductions, columns one register at a time. 3.
//   Columns
//    in blocks of four registers, so that a row of the matrix is read in whole cache lines.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/rows/carried_sum.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <limits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

inline constexpr float minus_infinite = -std::numeric_limits<float>::infinity();  // of any element type

namespace detail {

// Eight independent reductions, four in a short row, hide the latency of the operation and reduce the error of a long
// sum.
template <class Arch, class Step>
[[nodiscard, gnu::always_inline]] inline floats<Arch> fold_row(std::size_t n, const element_of<Arch>* in,
                                                               element_of<Arch> neutral, const Step& step) noexcept {
  constexpr std::size_t wide = lanes<Arch>;
  floats<Arch> part[4] = {broadcast<Arch>(neutral), broadcast<Arch>(neutral), broadcast<Arch>(neutral),
                          broadcast<Arch>(neutral)};
  std::size_t i = 0;
  if (n >= 8 * wide) {
    floats<Arch> more[4] = {part[0], part[0], part[0], part[0]};
    for (; i + 8 * wide <= n; i += 8 * wide) {
#pragma GCC unroll 4
      for (std::size_t p = 0; p < 4; ++p) part[p] = step(part[p], load<Arch>(in + i + p * wide));
#pragma GCC unroll 4
      for (std::size_t p = 0; p < 4; ++p) more[p] = step(more[p], load<Arch>(in + i + (4 + p) * wide));
    }
#pragma GCC unroll 4
    for (std::size_t p = 0; p < 4; ++p) part[p] = step.join(part[p], more[p]);
  }
  for (; i + 4 * wide <= n; i += 4 * wide) {
    part[0] = step(part[0], load<Arch>(in + i));
    part[1] = step(part[1], load<Arch>(in + i + wide));
    part[2] = step(part[2], load<Arch>(in + i + 2 * wide));
    part[3] = step(part[3], load<Arch>(in + i + 3 * wide));
  }
  for (; i + wide <= n; i += wide) part[0] = step(part[0], load<Arch>(in + i));
  if (i < n) {
    const floats<Arch> folded = step(part[1], load_partial<Arch>(in + i, n - i));
    part[1] = select<Arch>(first_lanes<Arch>(n - i), folded, part[1]);
  }
  part[0] = step.join(part[0], part[1]);
  part[2] = step.join(part[2], part[3]);
  return step.join(part[0], part[2]);
}

inline constexpr std::size_t sum_block = 2048;      // floats of a row that are summed without a carry
inline constexpr std::size_t sum_block_rows = 128;  // rows that are summed without a carry

// fold_row for a step that adds, in blocks; the blocks depend on n alone. Long rows have a separate function: within
// one function short rows were 30 % slower.
template <class Arch, class Step>
[[nodiscard, gnu::noinline]] floats<Arch> fold_long_row(std::size_t n, const element_of<Arch>* in, Step step) noexcept {
  carried_sum<floats<Arch>> sum;
  for (std::size_t at = 0; at < n; at += sum_block) {
    sum += fold_row<Arch>(n - at < sum_block ? n - at : sum_block, in + at, 0.0F, step);
  }
  return sum.value();
}
template <class Arch, class Step>
[[nodiscard, gnu::always_inline]] inline floats<Arch> fold_sum_row(std::size_t n, const element_of<Arch>* in,
                                                                   const Step& step) noexcept {
  if (n > sum_block) [[unlikely]] { return fold_long_row<Arch>(n, in, step); }
  return fold_row<Arch>(n, in, 0.0F, step);
}

struct plain_sum {
  template <class Batch>
  [[gnu::always_inline]] Batch operator()(const Batch& sum, const Batch& x) const noexcept {
    return sum + x;
  }
  template <class Batch>
  [[gnu::always_inline]] Batch join(const Batch& a, const Batch& b) const noexcept {
    return a + b;
  }
};

template <class Arch>
struct max_step {
  [[gnu::always_inline]] floats<Arch> operator()(const floats<Arch>& largest, const floats<Arch>& x) const noexcept {
    return max_or_nan<Arch>(largest, x);
  }
  [[gnu::always_inline]] floats<Arch> join(const floats<Arch>& a, const floats<Arch>& b) const noexcept {
    return max_or_nan<Arch>(a, b);
  }
};

template <class Arch>
struct min_step {
  [[gnu::always_inline]] floats<Arch> operator()(const floats<Arch>& least, const floats<Arch>& x) const noexcept {
    return select<Arch>(is_nan<Arch>(least), least, select<Arch>(x >= least, least, x));
  }
  [[gnu::always_inline]] floats<Arch> join(const floats<Arch>& a, const floats<Arch>& b) const noexcept {
    return (*this)(a, b);
  }
};

// sum of (x - center)^2.
template <class Arch>
struct square_step {
  floats<Arch> center;

  [[gnu::always_inline]] floats<Arch> operator()(const floats<Arch>& sum, const floats<Arch>& x) const noexcept {
    const floats<Arch> off = x - center;
    return fma<Arch>(off, off, sum);
  }
  [[gnu::always_inline]] floats<Arch> join(const floats<Arch>& a, const floats<Arch>& b) const noexcept {
    return a + b;
  }
};

// sum of (x * scale)^2.
template <class Arch>
struct scaled_square_step {
  floats<Arch> scale;

  [[gnu::always_inline]] floats<Arch> operator()(const floats<Arch>& sum, const floats<Arch>& x) const noexcept {
    const floats<Arch> scaled = x * scale;
    return fma<Arch>(scaled, scaled, sum);
  }
  [[gnu::always_inline]] floats<Arch> join(const floats<Arch>& a, const floats<Arch>& b) const noexcept {
    return a + b;
  }
};

// A sum of squares within these bounds has no underflow or overflow. Below, elements are scaled by `up`, so that their
// squares are normal numbers with a finite sum; above, by `down`.
template <class T>
struct square_bounds;
template <>
struct square_bounds<float> {
  static constexpr float least = 0x1p-77F;
  static constexpr float most = std::numeric_limits<float>::max();
  static constexpr float up = 0x1p100F;
  static constexpr float down = 0x1p-100F;
};
template <>
struct square_bounds<double> {
  static constexpr double least = 0x1p-915;
  static constexpr double most = std::numeric_limits<double>::max();
  static constexpr double up = 0x1p800;
  static constexpr double down = 0x1p-800;
};

// Calls f(column, count) for registers of columns; count is the constant `lanes` except for the last.
template <class Arch, class F>
[[gnu::always_inline]] inline void for_columns(std::size_t columns, const F& f) noexcept {
  std::size_t c = 0;
  for (; c + lanes<Arch> <= columns; c += lanes<Arch>) f(c, lanes<Arch>);
  if (c < columns) f(c, columns - c);
}

template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> load_some(const element_of<Arch>* from,
                                                                std::size_t count) noexcept {
  return count == lanes<Arch> ? load<Arch>(from) : load_partial<Arch>(from, count);
}

template <class Arch>
[[gnu::always_inline]] inline void store_some(element_of<Arch>* to, std::size_t count,
                                              const floats<Arch>& value) noexcept {
  if (count == lanes<Arch>) store<Arch>(to, value);
  else store_partial<Arch>(to, count, value);
}

// Reduces `extent` rows of columns to one row, starting from `out` if `onto`.
template <class Arch, class Step>
[[gnu::always_inline]] inline void fold_columns(std::size_t extent, std::size_t columns, const element_of<Arch>* in,
                                                std::ptrdiff_t stride, element_of<Arch>* out, element_of<Arch> neutral,
                                                bool onto, const Step& step) noexcept {
  constexpr std::size_t wide = lanes<Arch>;
  std::size_t c = 0;
  for (; c + 4 * wide <= columns; c += 4 * wide) {
    floats<Arch> part[4];
    for (std::size_t j = 0; j < 4; ++j) part[j] = onto ? load<Arch>(out + c + j * wide) : broadcast<Arch>(neutral);
    const element_of<Arch>* from = in + c;
    for (std::size_t i = 0; i < extent; ++i, from += stride) {
      part[0] = step(part[0], load<Arch>(from));
      part[1] = step(part[1], load<Arch>(from + wide));
      part[2] = step(part[2], load<Arch>(from + 2 * wide));
      part[3] = step(part[3], load<Arch>(from + 3 * wide));
    }
    for (std::size_t j = 0; j < 4; ++j) store<Arch>(out + c + j * wide, part[j]);
  }
  for (; c < columns; c += wide) {
    const std::size_t count = columns - c < wide ? columns - c : wide;
    floats<Arch> folded = onto ? load_some<Arch>(out + c, count) : broadcast<Arch>(neutral);
    const element_of<Arch>* from = in + c;
    for (std::size_t i = 0; i < extent; ++i, from += stride) folded = step(folded, load_some<Arch>(from, count));
    store_some<Arch>(out + c, count, folded);
  }
}

}  // namespace detail

/// The sum of `n` floats.
template <class Arch = default_arch>
[[nodiscard]] element_of<Arch> sum_row(std::size_t n, const element_of<Arch>* in) noexcept {
  return reduce_sum<Arch>(detail::fold_sum_row<Arch>(n, in, detail::plain_sum{}));
}

/// The mean of `n` floats.
template <class Arch = default_arch>
[[nodiscard]] element_of<Arch> mean_row(std::size_t n, const element_of<Arch>* in) noexcept {
  return sum_row<Arch>(n, in) / static_cast<element_of<Arch>>(n);
}

/// The maximum of `n` floats; NaN if one is NaN.
template <class Arch = default_arch>
[[nodiscard]] element_of<Arch> max_row(std::size_t n, const element_of<Arch>* in) noexcept {
  return reduce_max<Arch>(detail::fold_row<Arch>(n, in, minus_infinite, detail::max_step<Arch>{}));
}

/// The minimum of `n` floats; NaN if one is NaN.
template <class Arch = default_arch>
[[nodiscard]] element_of<Arch> min_row(std::size_t n, const element_of<Arch>* in) noexcept {
  const detail::min_step<Arch> step{};
  return detail::fold<Arch>(detail::fold_row<Arch>(n, in, -minus_infinite, step), step).get(0);
}

/// The Euclidean norm of `n` floats, without overflow or underflow of squares; NaN if one is NaN.
template <class Arch = default_arch>
[[nodiscard]] element_of<Arch> norm_row(std::size_t n, const element_of<Arch>* in) noexcept {
  using bounds = detail::square_bounds<element_of<Arch>>;
  const auto squares = [&](element_of<Arch> scale) {
    return reduce_sum<Arch>(
        detail::fold_sum_row<Arch>(n, in, detail::scaled_square_step<Arch>{broadcast<Arch>(scale)}));
  };
  const element_of<Arch> sum = squares(1.0F);
  const auto root = [](element_of<Arch> x) { return square_root<Arch>(broadcast<Arch>(x)).get(0); };
  if (sum < bounds::least) return root(squares(bounds::up)) * bounds::down;
  if (sum > bounds::most) return root(squares(bounds::down)) * bounds::up;
  return root(sum);
}

namespace detail {

// Sums of many rows, with carried sums: four registers of columns at a time, down all rows.
template <class Arch>
[[gnu::noinline]] void sum_long_columns(std::size_t extent, std::size_t columns, const element_of<Arch>* in,
                                        std::ptrdiff_t stride, element_of<Arch>* out, bool onto) noexcept {
  constexpr std::size_t group = 4 * lanes<Arch>;
  for (std::size_t c = 0; c < columns; c += group) {
    const std::size_t count = columns - c < group ? columns - c : group;
    carried_sum<floats<Arch>> sums[4];
    for (std::size_t at = 0; at < extent; at += sum_block_rows) {
      element_of<Arch> part[group] = {};
      const std::size_t rows = extent - at < sum_block_rows ? extent - at : sum_block_rows;
      fold_columns<Arch>(rows, count, in + static_cast<std::ptrdiff_t>(at) * stride + c, stride, part, 0.0F, false,
                         plain_sum{});
      for (std::size_t j = 0; j < 4; ++j) sums[j] += load<Arch>(part + j * lanes<Arch>);
    }
    for (std::size_t j = 0; j * lanes<Arch> < count; ++j) {
      const std::size_t at = c + j * lanes<Arch>;
      const std::size_t some = columns - at < lanes<Arch> ? columns - at : lanes<Arch>;
      const floats<Arch> sum = sums[j].value();
      store_some<Arch>(out + at, some, onto ? load_some<Arch>(out + at, some) + sum : sum);
    }
  }
}

}  // namespace detail

/// out[c] = sum of in[i * stride + c] over i, plus out[c] if `onto`.
template <class Arch = default_arch>
void sum_columns(std::size_t extent, std::size_t columns, const element_of<Arch>* in, std::ptrdiff_t stride,
                 element_of<Arch>* out, bool onto = false) noexcept {
  if (extent > detail::sum_block_rows) {
    return detail::sum_long_columns<Arch>(extent, columns, in, stride, out, onto);
  }
  detail::fold_columns<Arch>(extent, columns, in, stride, out, 0.0F, onto, detail::plain_sum{});
}

/// out[c] = the Euclidean norm of in[i * stride + c] over i, and of out[c] if `onto`; NaN if one is NaN.
template <class Arch = default_arch>
void norm_columns(std::size_t extent, std::size_t columns, const element_of<Arch>* in, std::ptrdiff_t stride,
                  element_of<Arch>* out, bool onto = false) noexcept {
  using bounds = detail::square_bounds<element_of<Arch>>;
  const floats<Arch> one = broadcast<Arch>(1.0F);
  detail::for_columns<Arch>(columns, [&](std::size_t c, std::size_t count) {
    const floats<Arch> before = onto ? detail::load_some<Arch>(out + c, count) : broadcast<Arch>(0.0F);
    const auto squares = [&](const floats<Arch>& scale) {
      const detail::scaled_square_step<Arch> step{scale};
      carried_sum<floats<Arch>> sum;
      sum += step(broadcast<Arch>(0.0F), before);
      for (std::size_t at = 0; at < extent; at += detail::sum_block_rows) {
        const std::size_t end = extent - at < detail::sum_block_rows ? extent : at + detail::sum_block_rows;
        floats<Arch> block = broadcast<Arch>(0.0F);
        for (std::size_t i = at; i < end; ++i) {
          block = step(block, detail::load_some<Arch>(in + static_cast<std::ptrdiff_t>(i) * stride + c, count));
        }
        sum += block;
      }
      return sum.value();
    };
    floats<Arch> sum = squares(one);
    // Each column has the scale that its squares need.
    const auto small = sum < broadcast<Arch>(bounds::least);
    const auto large = sum > broadcast<Arch>(bounds::most);
    floats<Arch> back = one;
    if (xsimd::any(small) || xsimd::any(large)) {
      const auto chosen = [&](element_of<Arch> of_small, element_of<Arch> of_large) {
        return select<Arch>(small, broadcast<Arch>(of_small), select<Arch>(large, broadcast<Arch>(of_large), one));
      };
      sum = squares(chosen(bounds::up, bounds::down));
      back = chosen(bounds::down, bounds::up);
    }
    detail::store_some<Arch>(out + c, count, square_root<Arch>(sum) * back);
  });
}

/// out[c] = maximum of in[i * stride + c] over i, and of out[c] if `onto`; NaN if one is NaN.
template <class Arch = default_arch>
void max_columns(std::size_t extent, std::size_t columns, const element_of<Arch>* in, std::ptrdiff_t stride,
                 element_of<Arch>* out, bool onto = false) noexcept {
  detail::fold_columns<Arch>(extent, columns, in, stride, out, minus_infinite, onto, detail::max_step<Arch>{});
}

/// out[c] = minimum of in[i * stride + c] over i, and of out[c] if `onto`; NaN if one is NaN.
template <class Arch = default_arch>
void min_columns(std::size_t extent, std::size_t columns, const element_of<Arch>* in, std::ptrdiff_t stride,
                 element_of<Arch>* out, bool onto = false) noexcept {
  detail::fold_columns<Arch>(extent, columns, in, stride, out, -minus_infinite, onto, detail::min_step<Arch>{});
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
