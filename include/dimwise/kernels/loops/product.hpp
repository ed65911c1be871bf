// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/loops/product.hpp -- contractions by loops: sums of products over any strides.
//
// Layer: kernels. Sums of more than `few_terms` products are carried, so that their rounding error does not grow with
// the number of terms.
// Tests: tests/expr/products/*.test.cpp
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/loops/nest.hpp>
#include <dimwise/kernels/rows/carried_sum.hpp>
#include <dimwise/support/math.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

// The elements that a product skips in an operand: hidden weights (−0), all zeros, or all zeros and the hidden weights
// of the other operand.
enum class left_out : unsigned char { nothing, hidden, zeros, zeros_and_hidden };

namespace detail_loops {

inline constexpr std::size_t few_terms = 512;  // terms that are added to a row of the result itself
inline constexpr std::size_t long_columns = 64;

template <class T>
[[nodiscard]] bool is_left_out(left_out what, T w) {
  return what != left_out::nothing && w == T(0) && (what != left_out::hidden || dimwise::detail::math::signbit(w));
}

// Σ over one run of both operands; eight independent sums if memory is contiguous.
template <class T>
[[gnu::always_inline]] inline T dot(const T* a, std::ptrdiff_t sa, const T* b, std::ptrdiff_t sb, std::size_t n) {
  T total = T(0);
  if (sa == 1 && sb == 1) {
    T part[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
      for (std::size_t j = 0; j < 8; ++j) { part[j] += a[i + j] * b[i + j]; }
    }
    for (; i < n; ++i) { total += a[i] * b[i]; }
    for (const T p : part) { total += p; }
  } else {
    for (std::size_t i = 0; i < n; ++i, a += sa, b += sb) { total += *a * *b; }
  }
  return total;
}

// The same without the elements that are left out.
template <class T>
[[gnu::noinline]] T dot_of_rest(left_out what, const T* a, std::ptrdiff_t sa, const T* b, std::ptrdiff_t sb,
                                std::size_t n) {
  const left_out of_b = what == left_out::zeros_and_hidden ? left_out::hidden : left_out::nothing;
  T total = T(0);
  for (std::size_t i = 0; i < n; ++i, a += sa, b += sb) {
    if (!is_left_out(of_b, *b) && !is_left_out(what, *a)) { total += *a * *b; }
  }
  return total;
}

// row += w · values
template <class T>
[[gnu::always_inline]] inline void add_scaled(T* row, std::ptrdiff_t s, T w, const T* values, std::ptrdiff_t sv,
                                              std::size_t n) {
  if (s == 1 && sv == 1) {
    for (std::size_t i = 0; i < n; ++i) { row[i] += w * values[i]; }
  } else {
    for (std::size_t i = 0; i < n; ++i, row += s, values += sv) { *row += w * *values; }
  }
}

// Sums of a few columns over very many rows. Terms are added to `part`, which is carried after each `sum_block` rows
// and at the end.
template <class T>
struct column_sums {
  carried_sum<T> totals[long_columns];
  T part[long_columns] = {};
  std::size_t rows = 0;  // rows added to `part`

  void carry(std::size_t columns) {
    for (std::size_t i = 0; i < columns; ++i) {
      totals[i] += part[i];
      part[i] = T(0);
    }
    rows = 0;
  }
};

// row = Σ over `sums` of weight · values with carried sums, a few columns at a time; `w` is the index of the weights
// in `sums`.
template <class T>
[[gnu::noinline]] void add_long_rows(left_out what, const loop_nest<2>& sums, T* row, std::ptrdiff_t step,
                                     std::size_t n, const T* weights, std::size_t w, const T* values,
                                     std::ptrdiff_t along) {
  for (std::size_t first = 0; first < n; first += long_columns) {
    const auto at = static_cast<std::ptrdiff_t>(first);
    const std::size_t count = n - first < long_columns ? n - first : long_columns;
    column_sums<T> columns;
    walk_rows(sums, [&](const std::ptrdiff_t(&p)[2], std::size_t m, const std::ptrdiff_t(&t)[2]) {
      for (std::size_t j = 0; j < m; ++j) {
        const T weight = weights[p[w] + static_cast<std::ptrdiff_t>(j) * t[w]];
        if (is_left_out(what, weight)) { continue; }
        add_scaled(columns.part, 1, weight, values + p[1 - w] + static_cast<std::ptrdiff_t>(j) * t[1 - w] + at * along,
                   along, count);
        if (++columns.rows == sum_block) { columns.carry(count); }
      }
    });
    columns.carry(count);
    for (std::size_t i = 0; i < count; ++i) {
      row[(at + static_cast<std::ptrdiff_t>(i)) * step] = columns.totals[i].value();
    }
  }
}

// Σ over `sums` of a · b with carried sums.
template <class T>
[[gnu::noinline]] T long_dot(left_out what, const loop_nest<2>& sums, const T* a, const T* b) {
  carried_sum<T> total;
  walk_rows(sums, [&](const std::ptrdiff_t(&p)[2], std::size_t m, const std::ptrdiff_t(&t)[2]) {
    for (std::size_t at = 0; at < m; at += sum_block) {
      const auto k = static_cast<std::ptrdiff_t>(at);
      const std::size_t n = m - at < sum_block ? m - at : sum_block;
      const T* const x = a + p[0] + k * t[0];
      const T* const y = b + p[1] + k * t[1];
      total += what == left_out::nothing ? dot(x, t[0], y, t[1], n) : dot_of_rest(what, x, t[0], y, t[1], n);
    }
  });
  return total.value();
}

// A row of results, each of which is a sum over `sums`.
template <class T>
[[gnu::noinline]] void add_dots(left_out what, const loop_nest<2>& sums, std::size_t n, T* row, std::ptrdiff_t step,
                                const T* a, std::ptrdiff_t sa, const T* b, std::ptrdiff_t sb) {
  const bool is_long = sums.size() > few_terms;
  for (std::size_t i = 0; i < n; ++i, row += step, a += sa, b += sb) {
    if (is_long) {
      *row = long_dot(what, sums, a, b);
      continue;
    }
    T total = T(0);
    walk_rows(sums, [&](const std::ptrdiff_t(&p)[2], std::size_t m, const std::ptrdiff_t(&t)[2]) {
      const T* const x = a + p[0];
      const T* const y = b + p[1];
      total += what == left_out::nothing ? dot(x, t[0], y, t[1], m) : dot_of_rest(what, x, t[0], y, t[1], m);
    });
    *row = total;
  }
}

}  // namespace detail_loops

/// to = Σ over `sums` of a · b, for every element of `result` (pointers: to, a, b; in `sums`: a, b).
///
/// Skipped elements of `a` do not count even if their factor in `b` is NaN or infinite.
template <class T>
void contract(left_out what, const loop_nest<3>& result, const loop_nest<2>& sums, T* to, const T* a, const T* b) {
  using namespace detail_loops;
  const bool inner_dot = sums.rank > 0 && sums.stride[0][sums.rank - 1] == 1 && sums.stride[1][sums.rank - 1] == 1;
  const bool is_long = sums.size() > few_terms;
  walk_rows(result, [&](const std::ptrdiff_t(&o)[3], std::size_t n, const std::ptrdiff_t(&s)[3]) {
    T* row = to + o[0];
    const bool one_weight = what != left_out::zeros_and_hidden && s[1] == 0 && (s[2] == 1 || !inner_dot);
    if (one_weight || (s[2] == 0 && what == left_out::nothing && (s[1] == 1 || !inner_dot))) {
      // The row of the result is a weighted sum of rows of the operand that varies along it.
      const T* weights = one_weight ? a + o[1] : b + o[2];
      const T* values = one_weight ? b + o[2] : a + o[1];
      const std::size_t w = one_weight ? 0 : 1;
      const std::ptrdiff_t along = one_weight ? s[2] : s[1];
      if (is_long) { return add_long_rows(what, sums, row, s[0], n, weights, w, values, along); }
      for (std::size_t i = 0; i < n; ++i) { row[static_cast<std::ptrdiff_t>(i) * s[0]] = T(0); }
      walk_rows(sums, [&](const std::ptrdiff_t(&p)[2], std::size_t m, const std::ptrdiff_t(&t)[2]) {
        for (std::size_t j = 0; j < m; ++j) {
          const T weight = weights[p[w] + static_cast<std::ptrdiff_t>(j) * t[w]];
          if (is_left_out(what, weight)) { continue; }
          add_scaled(row, s[0], weight, values + p[1 - w] + static_cast<std::ptrdiff_t>(j) * t[1 - w], along, n);
        }
      });
      return;
    }
    add_dots(what, sums, n, row, s[0], a + o[1], s[1], b + o[2], s[2]);
  });
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
