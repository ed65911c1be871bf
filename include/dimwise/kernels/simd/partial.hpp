// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/simd/partial.hpp -- loads and stores of the first lanes of a register, for the end of a row.
//
// Layer: kernels.
// Tests: tests/kernels/simd.test.cpp
//
//   store_partial<Arch>(p, count, x);              // does not write p[count]
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/simd/lanewise.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

/// The first `count` floats of `from` (`count` <= lanes) and `fill` in the other lanes; does not read past them.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> load_partial(const element_of<Arch>* from, std::size_t count,
                                                                   element_of<Arch> fill = 0.0F) noexcept {
#if XSIMD_WITH_AVX512F
  if constexpr (is_avx512<Arch> && in_doubles<Arch>) {
    return floats<Arch>(_mm512_mask_loadu_pd(_mm512_set1_pd(fill), static_cast<__mmask8>((1U << count) - 1U), from));
  }
  if constexpr (is_avx512<Arch> && !in_doubles<Arch>) {
    return floats<Arch>(_mm512_mask_loadu_ps(_mm512_set1_ps(fill), static_cast<__mmask16>((1U << count) - 1U), from));
  }
#endif
#if XSIMD_WITH_AVX2
  if constexpr (is_avx2<Arch> && in_doubles<Arch>) {
    const mask<Arch> wanted = first_lanes<Arch>(count);
    const __m256d raw = _mm256_maskload_pd(from, _mm256_castpd_si256(wanted.data));
    return select<Arch>(wanted, floats<Arch>(raw), broadcast<Arch>(fill));
  }
  if constexpr (is_avx2<Arch> && !in_doubles<Arch>) {
    const mask<Arch> wanted = first_lanes<Arch>(count);
    const __m256 raw = _mm256_maskload_ps(from, _mm256_castps_si256(wanted.data));
    return select<Arch>(wanted, floats<Arch>(raw), broadcast<Arch>(fill));
  }
#endif
  if constexpr (!is_avx512<Arch> && !is_avx2<Arch>) {
    if (count >= lanes<Arch>) return load<Arch>(from);
    alignas(64) element_of<Arch> buffer[lanes<Arch>];
    for (std::size_t i = 0; i < lanes<Arch>; ++i) buffer[i] = i < count ? from[i] : fill;
    return load_aligned<Arch>(&buffer[0]);
  }
}

/// Writes the first `count` lanes (`count` <= lanes) only.
template <class Arch>
[[gnu::always_inline]] inline void store_partial(element_of<Arch>* to, std::size_t count,
                                                 const floats<Arch>& value) noexcept {
#if XSIMD_WITH_AVX512F
  if constexpr (is_avx512<Arch> && in_doubles<Arch>) {
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1U << count) - 1U), value.data);
    return;
  }
  if constexpr (is_avx512<Arch> && !in_doubles<Arch>) {
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << count) - 1U), value.data);
    return;
  }
#endif
#if XSIMD_WITH_AVX2
  if constexpr (is_avx2<Arch> && in_doubles<Arch>) {
    _mm256_maskstore_pd(to, _mm256_castpd_si256(first_lanes<Arch>(count).data), value.data);
    return;
  }
  if constexpr (is_avx2<Arch> && !in_doubles<Arch>) {
    _mm256_maskstore_ps(to, _mm256_castps_si256(first_lanes<Arch>(count).data), value.data);
    return;
  }
#endif
  if constexpr (!is_avx512<Arch> && !is_avx2<Arch>) {
    if (count >= lanes<Arch>) return store<Arch>(to, value);
    alignas(64) element_of<Arch> buffer[lanes<Arch>];
    store_aligned<Arch>(&buffer[0], value);
    for (std::size_t i = 0; i < count; ++i) to[i] = buffer[i];
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
