// dimwise/kernels/map.hpp -- a function applied element by element to contiguous floats, and to rows of them.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
// Tests: tests/kernels/rows.test.cpp
//
// The function takes and returns registers: those of math.hpp, the operators below, or a generic lambda. `out` may be
// an input, element for element. No pointer needs alignment.
//
//   map_floats<Arch>(n, x, y, gelu_of{});
//   zip_rows<Arch>(rows, columns, x, x_stride, bias, y, y_stride, add_of{});       // y = x + bias, row by row
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/simd.hpp>

#include <cstddef>

namespace dimwise::kernels {

/// `a + b`, `a - b`, `a * b`, `a / b`.
struct add_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& a, const Batch& b) const noexcept {
    return a + b;
  }
};
struct subtract_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& a, const Batch& b) const noexcept {
    return a - b;
  }
};
struct multiply_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& a, const Batch& b) const noexcept {
    return a * b;
  }
};
struct divide_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& a, const Batch& b) const noexcept {
    return a / b;
  }
};
/// The larger; NaN if either is.
struct max_of {
  template <class Arch>
  [[nodiscard, gnu::always_inline]] xsimd::batch<float, Arch> operator()(
      const xsimd::batch<float, Arch>& a, const xsimd::batch<float, Arch>& b) const noexcept {
    return max_or_nan<Arch>(a, b);
  }
};
/// The smaller; NaN if either is.
struct min_of {
  template <class Arch>
  [[nodiscard, gnu::always_inline]] xsimd::batch<float, Arch> operator()(
      const xsimd::batch<float, Arch>& a, const xsimd::batch<float, Arch>& b) const noexcept {
    return select<Arch>(is_nan<Arch>(b), b, select<Arch>(b < a, b, a));
  }
};

/// out[i] = f(in[i]).
template <class Arch = default_arch, class F>
void map_floats(std::size_t n, const float* in, float* out, const F& f) noexcept {
  std::size_t i = 0;
  for (; i + lanes<Arch> <= n; i += lanes<Arch>) store<Arch>(out + i, f(load<Arch>(in + i)));
  if (i < n) store_partial<Arch>(out + i, n - i, f(load_partial<Arch>(in + i, n - i)));
}

/// out[i] = f(a[i], b[i]).
template <class Arch = default_arch, class F>
void zip_floats(std::size_t n, const float* a, const float* b, float* out, const F& f) noexcept {
  std::size_t i = 0;
  for (; i + lanes<Arch> <= n; i += lanes<Arch>) { store<Arch>(out + i, f(load<Arch>(a + i), load<Arch>(b + i))); }
  if (i < n) {
    store_partial<Arch>(out + i, n - i, f(load_partial<Arch>(a + i, n - i), load_partial<Arch>(b + i, n - i)));
  }
}

/// out[i] = f(a[i], number).
template <class Arch = default_arch, class F>
void zip_number(std::size_t n, const float* a, float number, float* out, const F& f) noexcept {
  const floats<Arch> same = broadcast<Arch>(number);
  map_floats<Arch>(
      n, a, out, [&](const floats<Arch>& x) __attribute__((always_inline)) { return f(x, same); });
}

/// out[r, c] = f(a[r, c], row[c]): one row against all.
template <class Arch = default_arch, class F>
void zip_rows(std::size_t rows, std::size_t columns, const float* a, std::ptrdiff_t a_stride, const float* row,
              float* out, std::ptrdiff_t out_stride, const F& f) noexcept {
  for (std::size_t r = 0; r < rows; ++r, a += a_stride, out += out_stride) {
    zip_floats<Arch>(columns, a, row, out, f);
  }
}

/// out[r, c] = f(a[r, c], column[r]): one number per row.
template <class Arch = default_arch, class F>
void zip_columns(std::size_t rows, std::size_t columns, const float* a, std::ptrdiff_t a_stride, const float* column,
                 float* out, std::ptrdiff_t out_stride, const F& f) noexcept {
  for (std::size_t r = 0; r < rows; ++r, a += a_stride, out += out_stride) {
    zip_number<Arch>(columns, a, column[r], out, f);
  }
}

}  // namespace dimwise::kernels
