// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/simd/lanewise.hpp -- loads, stores, and operations lane by lane: fma, select, maxima, roots.
//
// Layer: kernels. Hides differences between xsimd 8.1 and 14 in names and correctness (the AVX-512 fma of 8.1 is a
// multiply and an add).
// Tests: tests/kernels/simd.test.cpp
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/simd/architecture.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> load(const element_of<Arch>* from) noexcept {
  return floats<Arch>::load_unaligned(from);
}

template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> load_aligned(const element_of<Arch>* from) noexcept {
  return floats<Arch>::load_aligned(from);
}

template <class Arch>
[[gnu::always_inline]] inline void store(element_of<Arch>* to, const floats<Arch>& value) noexcept {
  value.store_unaligned(to);
}

template <class Arch>
[[gnu::always_inline]] inline void store_aligned(element_of<Arch>* to, const floats<Arch>& value) noexcept {
  value.store_aligned(to);
}

template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> broadcast(element_of<Arch> value) noexcept {
  return floats<Arch>(value);
}

/// 0, 1, 2, ... one number per lane.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline ints<Arch> lane_indices() noexcept {
  // Loaded from memory: the constructors that take one argument per lane changed between xsimd versions.
  alignas(64) static constexpr integer_of<Arch> index[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return ints<Arch>::load_aligned(&index[0]);
}

// ---------------------------------------------------------------- lane by lane

/// `a * b + c`, with one rounding if `has_fma<Arch>`.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> fma(const floats<Arch>& a, const floats<Arch>& b,
                                                          const floats<Arch>& c) noexcept {
#if XSIMD_WITH_AVX512F
  // xsimd 8.1 multiplies and adds here; g++ contracts that, but clang does not, at half the speed.
  if constexpr (is_avx512<Arch> && in_doubles<Arch>) return floats<Arch>(_mm512_fmadd_pd(a.data, b.data, c.data));
  if constexpr (is_avx512<Arch> && !in_doubles<Arch>) return floats<Arch>(_mm512_fmadd_ps(a.data, b.data, c.data));
#endif
  if constexpr (!is_avx512<Arch>) return xsimd::fma(a, b, c);
}

/// Reinterprets the bits: lanes as integers.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline ints<Arch> as_ints(const floats<Arch>& value) noexcept {
#if XSIMD_VERSION_MAJOR >= 9
  return xsimd::bitwise_cast<integer_of<Arch>>(value);
#else
  return xsimd::bitwise_cast<ints<Arch>>(value);
#endif
}

/// Reinterprets the bits: integer lanes as elements.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> as_floats(const ints<Arch>& value) noexcept {
#if XSIMD_VERSION_MAJOR >= 9
  return xsimd::bitwise_cast<element_of<Arch>>(value);
#else
  return xsimd::bitwise_cast<floats<Arch>>(value);
#endif
}

/// The lanes of a comparison of integers, for use with elements of the same width.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline mask<Arch> as_mask(
    const xsimd::batch_bool<integer_of<Arch>, instructions<Arch>>& value) noexcept {
#if XSIMD_VERSION_MAJOR >= 9
  return xsimd::batch_bool_cast<element_of<Arch>>(value);
#else
  return xsimd::bool_cast(value);
#endif
}

/// Integers as floats of the same value; not for doubles.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> to_floats(const ints<Arch>& value) noexcept {
#if XSIMD_WITH_AVX512F
  // As in max_skip_nan: g++-12 warns of the plain intrinsic.
  if constexpr (is_avx512<Arch>) return floats<Arch>(_mm512_maskz_cvtepi32_ps(0xFFFF, value.data));
#endif
  if constexpr (!is_avx512<Arch>) return xsimd::to_float(value);
}

/// `truth ? yes : no` in each lane.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> select(const mask<Arch>& truth, const floats<Arch>& yes,
                                                             const floats<Arch>& no) noexcept {
  return xsimd::select(truth, yes, no);
}

/// The square roots of the lanes.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> square_root(const floats<Arch>& value) noexcept {
#if XSIMD_WITH_AVX512F
  // As in max_skip_nan: g++-12 warns of the plain intrinsic.
  if constexpr (is_avx512<Arch> && in_doubles<Arch>) return floats<Arch>(_mm512_maskz_sqrt_pd(0xFF, value.data));
  if constexpr (is_avx512<Arch> && !in_doubles<Arch>) return floats<Arch>(_mm512_maskz_sqrt_ps(0xFFFF, value.data));
#endif
  if constexpr (!is_avx512<Arch>) return xsimd::sqrt(value);
}

/// True in the first `count` lanes.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline mask<Arch> first_lanes(std::size_t count) noexcept {
  return as_mask<Arch>(lane_indices<Arch>() < ints<Arch>(static_cast<integer_of<Arch>>(count)));
}

/// Whether each lane is NaN. (`x != x` fails: xsimd's AVX comparison is ordered, so false for NaN.)
template <class Arch>
[[nodiscard, gnu::always_inline]] inline mask<Arch> is_nan(const floats<Arch>& value) noexcept {
  return xsimd::isnan(value);
}

/// The maximum, ignoring NaN in `value`. `running` must not be NaN.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> max_skip_nan(const floats<Arch>& value,
                                                                   const floats<Arch>& running) noexcept {
#if XSIMD_WITH_NEON64
  if constexpr (is_neon64<Arch> && in_doubles<Arch>) return floats<Arch>(vmaxnmq_f64(value.data, running.data));
  if constexpr (is_neon64<Arch> && !in_doubles<Arch>) return floats<Arch>(vmaxnmq_f32(value.data, running.data));
#endif
#if XSIMD_WITH_AVX512F
  // Masked with all lanes on: the plain intrinsic makes g++-12 warn of an uninitialized value in its own header.
  if constexpr (is_avx512<Arch> && in_doubles<Arch>) {
    return floats<Arch>(_mm512_maskz_max_pd(0xFF, value.data, running.data));
  }
  if constexpr (is_avx512<Arch> && !in_doubles<Arch>) {
    return floats<Arch>(_mm512_maskz_max_ps(0xFFFF, value.data, running.data));
  }
#endif
  // x86: maxps returns its second operand if either is NaN, so the order of the operands matters.
  if constexpr (!is_neon64<Arch> && !is_avx512<Arch>) return xsimd::max(value, running);
}

/// The minimum, ignoring NaN in `value`. `running` must not be NaN.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> min_skip_nan(const floats<Arch>& value,
                                                                   const floats<Arch>& running) noexcept {
#if XSIMD_WITH_NEON64
  if constexpr (is_neon64<Arch> && in_doubles<Arch>) return floats<Arch>(vminnmq_f64(value.data, running.data));
  if constexpr (is_neon64<Arch> && !in_doubles<Arch>) return floats<Arch>(vminnmq_f32(value.data, running.data));
#endif
#if XSIMD_WITH_AVX512F
  if constexpr (is_avx512<Arch> && in_doubles<Arch>) {
    return floats<Arch>(_mm512_maskz_min_pd(0xFF, value.data, running.data));
  }
  if constexpr (is_avx512<Arch> && !in_doubles<Arch>) {
    return floats<Arch>(_mm512_maskz_min_ps(0xFFFF, value.data, running.data));
  }
#endif
  if constexpr (!is_neon64<Arch> && !is_avx512<Arch>) return xsimd::min(value, running);
}

/// The maximum; NaN if either operand is NaN.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> max_or_nan(const floats<Arch>& a,
                                                                 const floats<Arch>& b) noexcept {
  if constexpr (is_neon64<Arch>) return xsimd::max(a, b);
  else return select<Arch>(is_nan<Arch>(a), a, max_skip_nan<Arch>(a, b));
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
