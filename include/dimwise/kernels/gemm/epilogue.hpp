// dimwise/kernels/gemm/epilogue.hpp -- epilogues: functions applied to the elements of a matrix product on store.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
// Tests: tests/kernels/gemm/product.test.cpp
//
// An epilogue is a functor `x' = e(x, row, column, count)`: `x` holds `count` adjacent columns of one row of C; lanes
// from `count` on are undefined. Epilogues are inlined into the loop that stores a tile. Your own epilogue is a struct
// or a lambda.
//
//   chain(scaled{0.125F}, column_bias{bias}, activated{gelu_of{}}, plus{residual})
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

/// A strided matrix: element (row, column) is at `data[row * row_stride + column * column_stride]`.
template <class T>
struct strided_matrix {
  T* data;
  std::ptrdiff_t row_stride;
  std::ptrdiff_t column_stride;

  [[nodiscard, gnu::always_inline]] constexpr T* at(std::size_t row, std::size_t column) const noexcept {
    return data + static_cast<std::ptrdiff_t>(row) * row_stride + static_cast<std::ptrdiff_t>(column) * column_stride;
  }
};

/// A matrix of the elements of an architecture, to read.
template <class Arch>
using const_matrix = strided_matrix<const element_of<Arch>>;

namespace detail {

// `count` adjacent columns of one row.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> load_columns(const element_of<Arch>* from, std::ptrdiff_t stride,
                                                                   std::size_t count) noexcept {
  if (stride == 1) return count == lanes<Arch> ? load<Arch>(from) : load_partial<Arch>(from, count);
  alignas(64) element_of<Arch> buffer[lanes<Arch>] = {};
  for (std::size_t i = 0; i < count; ++i) buffer[i] = from[static_cast<std::ptrdiff_t>(i) * stride];
  return load_aligned<Arch>(&buffer[0]);
}

template <class Arch>
[[gnu::always_inline]] inline void store_columns(element_of<Arch>* to, std::ptrdiff_t stride, std::size_t count,
                                                 const floats<Arch>& value) noexcept {
  if (stride == 1) {
    if (count == lanes<Arch>) return store<Arch>(to, value);
    return store_partial<Arch>(to, count, value);
  }
  alignas(64) element_of<Arch> buffer[lanes<Arch>];
  store_aligned<Arch>(&buffer[0], value);
  for (std::size_t i = 0; i < count; ++i) to[static_cast<std::ptrdiff_t>(i) * stride] = buffer[i];
}

}  // namespace detail

/// The identity: stores the product.
struct keep {
  /// Whether the epilogue reads `c`: sums of a part of k then do not wait in C. Epilogues without this function are
  /// taken to read it.
  [[nodiscard]] static constexpr bool reads(const void*) noexcept { return false; }

  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& x, std::size_t, std::size_t,
                                                     std::size_t) const noexcept {
    return x;
  }
};

/// `factor * x`: the alpha of a gemm.
struct scaled {
  float factor;

  [[nodiscard]] static constexpr bool reads(const void*) noexcept { return false; }

  template <class Arch>
  [[nodiscard, gnu::always_inline]] xsimd::batch<float, Arch> operator()(const xsimd::batch<float, Arch>& x,
                                                                         std::size_t, std::size_t,
                                                                         std::size_t) const noexcept {
    return x * broadcast<Arch>(factor);
  }
};

/// `x + bias[column]`: the bias of a linear layer.
struct column_bias {
  const float* bias;

  /// The bias if the epilogue adds it and does nothing else, otherwise null: tiles then add it themselves.
  [[nodiscard]] constexpr const float* only_bias() const noexcept { return bias; }

  [[nodiscard]] static constexpr bool reads(const void*) noexcept { return false; }

  template <class Arch>
  [[nodiscard, gnu::always_inline]] xsimd::batch<float, Arch> operator()(const xsimd::batch<float, Arch>& x,
                                                                         std::size_t, std::size_t column,
                                                                         std::size_t count) const noexcept {
    return x + detail::load_columns<Arch>(bias + column, 1, count);
  }
};

/// `x + bias[row]`: the same bias when the product is taken with its operands exchanged.
struct row_bias {
  const float* bias;

  [[nodiscard]] static constexpr bool reads(const void*) noexcept { return false; }

  template <class Arch>
  [[nodiscard, gnu::always_inline]] xsimd::batch<float, Arch> operator()(const xsimd::batch<float, Arch>& x,
                                                                         std::size_t row, std::size_t,
                                                                         std::size_t) const noexcept {
    return x + broadcast<Arch>(bias[row]);
  }
};

/// `x + factor * other(row, column)`: a residual, or the beta C of a gemm. `other` may be C itself with the same
/// strides.
template <class T>
struct added {
  strided_matrix<const T> other;
  T factor = T(1);

  [[nodiscard]] constexpr bool reads(const void* c) const noexcept { return other.data == c; }

  template <class Instructions>
  [[nodiscard, gnu::always_inline]] xsimd::batch<T, Instructions> operator()(const xsimd::batch<T, Instructions>& x,
                                                                             std::size_t row, std::size_t column,
                                                                             std::size_t count) const noexcept {
    using Arch = arch_of<xsimd::batch<T, Instructions>>;
    const floats<Arch> with = detail::load_columns<Arch>(other.at(row, column), other.column_stride, count);
    return fma<Arch>(broadcast<Arch>(factor), with, x);
  }
};
using plus = added<float>;

/// `x + C`, in place: C += A B. The tiles start at the elements of C and do not read them again.
template <class T>
struct added_to : added<T> {
  explicit added_to(const strided_matrix<T>& c) noexcept : added<T>{{c.data, c.row_stride, c.column_stride}} {}
};
using add_to = added_to<float>;

/// `added_to` if `adds`, otherwise `keep`: selected at run time, so that one product is compiled for both.
template <class T>
struct keep_or_add {
  added_to<T> sum;
  bool adds;
};

/// `f(x)` for a function of one register, such as those of math.hpp.
template <class F>
struct activated {
  F f;

  [[nodiscard]] static constexpr bool reads(const void*) noexcept { return false; }

  template <class Arch>
  [[nodiscard, gnu::always_inline]] xsimd::batch<float, Arch> operator()(const xsimd::batch<float, Arch>& x,
                                                                         std::size_t, std::size_t,
                                                                         std::size_t) const noexcept {
    return f(x);
  }
};

template <class F>
activated(F) -> activated<F>;

/// Applies the first epilogue, then the second.
template <class First, class Second>
struct chained {
  First first;
  Second second;

  [[nodiscard]] constexpr bool reads(const void* c) const noexcept
    requires requires(const First& one, const Second& two) {
      one.reads(c);
      two.reads(c);
    }
  {
    return first.reads(c) || second.reads(c);
  }

  template <class Arch>
  [[nodiscard, gnu::always_inline]] xsimd::batch<float, Arch> operator()(const xsimd::batch<float, Arch>& x,
                                                                         std::size_t row, std::size_t column,
                                                                         std::size_t count) const noexcept {
    return second(first(x, row, column, count), row, column, count);
  }
};

/// Applies the epilogues from left to right.
template <class First>
[[nodiscard]] constexpr First chain(const First& first) noexcept {
  return first;
}

template <class First, class Second, class... Rest>
[[nodiscard]] constexpr auto chain(const First& first, const Second& second, const Rest&... rest) noexcept {
  return chain(chained<First, Second>{first, second}, rest...);
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
