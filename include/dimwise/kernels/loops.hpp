// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/loops.hpp -- nested loops over strided memory: the scalar path, and the reference implementation of
// the other kernels.
//
// Layer: kernels. Pointers, extents, strides; no names. The rank is a run-time value, so that one loop serves all
// shapes and users do not compile one for each.
// Tests: tests/eval/*.test.cpp, tests/expr/*.test.cpp
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/rows/carried_sum.hpp>
#include <dimwise/support/axis.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

using dimwise::detail::axis;
using dimwise::detail::max_rank;

// Nested loops that advance K pointers at once; the last axis is the innermost.
template <std::size_t K>
struct loop_nest {
  std::size_t rank = 0;
  std::size_t extent[max_rank] = {};
  std::ptrdiff_t stride[K][max_rank] = {};

  constexpr void add(std::size_t n, const std::ptrdiff_t (&by)[K]) {
    if (n == 1) { return; }
    if (rank > 0 && follows(n, by)) {
      extent[rank - 1] *= n;
    } else {
      extent[rank++] = n;
    }
    for (std::size_t k = 0; k < K; ++k) { stride[k][rank - 1] = by[k]; }
  }
  [[nodiscard]] constexpr bool empty() const {
    for (std::size_t i = 0; i < rank; ++i) {
      if (extent[i] == 0) { return true; }
    }
    return false;
  }
  // The number of iterations of the innermost body.
  [[nodiscard]] constexpr std::size_t size() const {
    std::size_t n = 1;
    for (std::size_t i = 0; i < rank; ++i) { n *= extent[i]; }
    return n;
  }

 private:
  // Whether the new inner axis is contiguous with the one outside it for every pointer, so that both form one loop.
  [[nodiscard]] constexpr bool follows(std::size_t n, const std::ptrdiff_t (&by)[K]) const {
    if (n == 0 || extent[rank - 1] == 0) { return false; }
    for (std::size_t k = 0; k < K; ++k) {
      if (stride[k][rank - 1] != static_cast<std::ptrdiff_t>(static_cast<std::size_t>(by[k]) * n)) { return false; }
    }
    // With strides of 0 the number of iterations may overflow.
    return extent[rank - 1] <= std::numeric_limits<std::size_t>::max() / n;
  }
};

// Calls body(offsets, n, steps) for every innermost row; offsets are advanced by strides, without multiplications per
// element. `for_each_row` does the same in one function for all bodies, which are called through a pointer.
template <std::size_t K, class Body>
constexpr void walk_rows(const loop_nest<K>& nest, Body&& body) {
  if (nest.empty()) { return; }
  std::ptrdiff_t offset[K] = {};
  std::ptrdiff_t step[K] = {};
  if (nest.rank == 0) {
    body(offset, std::size_t{1}, step);
    return;
  }
  const std::size_t inner = nest.rank - 1;
  for (std::size_t k = 0; k < K; ++k) { step[k] = nest.stride[k][inner]; }
  std::size_t counter[max_rank] = {};
  for (;;) {
    body(offset, nest.extent[inner], step);
    std::size_t i = inner;
    for (;;) {
      if (i == 0) { return; }
      --i;
      for (std::size_t k = 0; k < K; ++k) { offset[k] += nest.stride[k][i]; }
      if (++counter[i] < nest.extent[i]) { break; }
      for (std::size_t k = 0; k < K; ++k) {
        offset[k] -= static_cast<std::ptrdiff_t>(static_cast<std::size_t>(nest.stride[k][i]) * nest.extent[i]);
      }
      counter[i] = 0;
    }
  }
}

// A function object with its call function.
template <std::size_t K>
struct row_body {
  const void* object;
  void (*call)(const void* object, const std::ptrdiff_t (&offset)[K], std::size_t n, const std::ptrdiff_t (&step)[K]);

  void operator()(const std::ptrdiff_t (&offset)[K], std::size_t n, const std::ptrdiff_t (&step)[K]) const {
    call(object, offset, n, step);
  }
};
template <std::size_t K>
[[gnu::noinline]] void walk_rows_of(const loop_nest<K>& nest, row_body<K> body) {
  walk_rows(nest, body);
}
template <std::size_t K, class Body>
void for_each_row(const loop_nest<K>& nest, const Body& body) {
  walk_rows_of<K>(
      nest, {&body, [](const void* object, const std::ptrdiff_t(&offset)[K], std::size_t n,
                       const std::ptrdiff_t(&step)[K]) { (*static_cast<const Body*>(object))(offset, n, step); }});
}

/// to = from, elementwise; element types may differ.
template <class To, class From>
void copy(const loop_nest<2>& nest, To* to, const From* from) {
  for_each_row(nest, [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&s)[2]) {
    To* t = to + o[0];
    const From* f = from + o[1];
    if (s[0] == 1 && s[1] == 1) {
      for (std::size_t i = 0; i < n; ++i) { t[i] = static_cast<To>(f[i]); }
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        t[static_cast<std::ptrdiff_t>(i) * s[0]] = static_cast<To>(f[static_cast<std::ptrdiff_t>(i) * s[1]]);
      }
    }
  });
}

// The elements that a product skips in an operand: hidden weights (−0), all zeros, or all zeros and the hidden weights
// of the other operand.
enum class left_out : unsigned char { nothing, hidden, zeros, zeros_and_hidden };

namespace detail_loops {

inline constexpr std::size_t sum_block = 64;   // terms of a product that are added without a carry
inline constexpr std::size_t few_terms = 512;  // terms that are added to a row of the result itself
inline constexpr std::size_t long_columns = 64;

template <class T>
[[nodiscard]] bool is_left_out(left_out what, T w) {
  return what != left_out::nothing && w == T(0) && (what != left_out::hidden || std::signbit(w));
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

/// Calls body(to offset, from offset, row) for every element outside the row; `row` walks the elements inside it.
template <class Body>
void for_each_element(const loop_nest<2>& outside, Body&& body) {
  for_each_row(outside, [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&s)[2]) {
    for (std::size_t i = 0; i < n; ++i) {
      body(o[0] + static_cast<std::ptrdiff_t>(i) * s[0], o[1] + static_cast<std::ptrdiff_t>(i) * s[1]);
    }
  });
}

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
    const T e = x == minus_infinity<T> ? hidden : std::exp(x - largest);
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
    return from[f] == minus_infinity<T> ? T(0) : std::exp(from[f] - largest);
  });
  const T shift = std::log(total);
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
  const T scale = T(1) / std::sqrt(squares / count + epsilon);
  for_each_element(row, [&](std::ptrdiff_t t, std::ptrdiff_t f) { to[t] = (from[f] - mean) * scale; });
}

/// x / √(mean x² + ε)
template <class T>
void root_mean_square_row(const loop_nest<2>& row, T* to, const T* from, T epsilon) {
  const T squares = sum_of_row<T>(row, [&](std::ptrdiff_t, std::ptrdiff_t f) { return from[f] * from[f]; });
  const T count = static_cast<T>(row.size());
  const T scale = T(1) / std::sqrt(squares / count + epsilon);
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
      const float size = std::fabs(numbers[i]);
      largest = size > largest || size != size ? size : largest;
      if (largest != largest) { break; }
    }
    const float scale = largest / 127.0F;
    const float inverse = scale == 0.0F ? 0.0F : 127.0F / largest;
    for (std::size_t i = 0; i < count; ++i) {
      const float number = std::nearbyint(numbers[i] * inverse);
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
