// dimwise/kernels/quantised/rows.hpp -- low-precision keys and values, widened to float block by block.
//
// Layer: kernels. Includes: attention/layout.hpp, simd.hpp.
// Tests: tests/nn/cache/bfloat16.test.cpp
//
// A block of rows is widened into an L1-resident buffer right before its use, so that a KV cache is read in its stored
// format and never expanded as a whole. Conversions use the compiler's vector extensions, because xsimd 8.1 has no
// 16-bit types, except where g++ 12 widens 8 elements by five instructions and AVX2 has one: on a Zen 4 core limited to
// AVX2, weight rows of float16 are read at 40 GB/s (12 before), of bfloat16 at 40 (24).
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/layout.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <cstdint>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

// A value that a switch does not handle fails to compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

template <class Element, std::size_t Count>
struct vector_of {
  using type [[gnu::vector_size(sizeof(Element) * Count)]] = Element;
};
template <class Element, std::size_t Count>
using vector_of_t = typename vector_of<Element, Count>::type;

template <class Vector>
[[gnu::always_inline]] inline Vector load_bytes(const void* from) noexcept {
  Vector v;
  __builtin_memcpy(&v, from, sizeof(Vector));
  return v;
}

// The bytes of an element that is converted in registers; 0 for formats that are read in place or widened to a buffer.
[[nodiscard]] constexpr std::size_t bytes_in_register(number_format format) noexcept {
  switch (format) {
    case number_format::bfloat16:
    case number_format::float16:
      return 2;
    case number_format::int8:
      return 1;
    case number_format::int4:
    case number_format::float32:
      return 0;
  }
  return 0;
}

// Loads one vector of elements from element c on, stored in `Format`.
template <class Arch, number_format Format>
struct widen {
  static constexpr std::size_t n = lanes<Arch>;
  using floats_n = vector_of_t<float, n>;
  using uint32_n = vector_of_t<std::uint32_t, n>;
  using int32_n = vector_of_t<std::int32_t, n>;
  static constexpr bool packed = Format == number_format::int4;
#if defined(__AVX512F__)
  static constexpr bool converts_halves = n == 16;
#elif defined(__F16C__)
  static constexpr bool converts_halves = n == 8;
#else
  static constexpr bool converts_halves = false;
#endif
  static constexpr std::size_t bytes = Format == number_format::bfloat16 || Format == number_format::float16 ? 2 : 1;

  [[gnu::always_inline]] static floats_n load(const unsigned char* row, std::size_t c) noexcept {
    return from(row + (packed ? c / 2 : c * bytes));
  }
  // Loads the elements from c to the end into the first lanes.
  [[gnu::always_inline]] static floats_n load_partial(const unsigned char* row, std::size_t c,
                                                      std::size_t count) noexcept {
    unsigned char part[n * bytes] = {};
    const std::size_t size = packed ? (count + 1) / 2 : count * bytes;
    __builtin_memcpy(part, row + (packed ? c / 2 : c * bytes), size);
    return from(part);
  }

 private:
  [[gnu::always_inline]] static floats_n from(const unsigned char* at) noexcept {
    if constexpr (Format == number_format::bfloat16 && n == 8) {
#if defined(__AVX2__)
      return reinterpret<floats_n>(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_bytes<__m128i>(at)), 16));
#endif
#if defined(__AVX512F__)
    } else if constexpr (Format == number_format::bfloat16 && n == 16) {
      // Masked with all lanes on: g++ 12 warns of an uninitialized value in the plain intrinsics' header.
      const __m512i wide = _mm512_maskz_cvtepu16_epi32(0xFFFF, load_bytes<__m256i>(at));
      return reinterpret<floats_n>(_mm512_maskz_slli_epi32(0xFFFF, wide, 16));
#endif
    } else if constexpr (Format == number_format::bfloat16) {
      return reinterpret<floats_n>(__builtin_convertvector(load_bytes<vector_of_t<std::uint16_t, n>>(at), uint32_n)
                                   << 16);
    } else if constexpr (Format == number_format::float16 && converts_halves) {
#if defined(__AVX512F__)
      return reinterpret<floats_n>(_mm512_cvtph_ps(load_bytes<__m256i>(at)));
#elif defined(__F16C__)
      return reinterpret<floats_n>(_mm256_cvtph_ps(load_bytes<__m128i>(at)));
#endif
    } else if constexpr (Format == number_format::float16) {
      const uint32_n h = __builtin_convertvector(load_bytes<vector_of_t<std::uint16_t, n>>(at), uint32_n);
      // Exponent and fraction in float positions; the product rebases the exponent and normalises subnormals.
      const uint32_n shifted = (h & 0x7fffU) << 13;
      const uint32_n finite = reinterpret<uint32_n>(reinterpret<floats_n>(shifted) * 0x1p112F);
      const uint32_n special = reinterpret<uint32_n>(shifted >= 0x0f800000U) & 0x7f800000U;
      return reinterpret<floats_n>(finite | special | ((h & 0x8000U) << 16));
    } else if constexpr (Format == number_format::int8) {
      return __builtin_convertvector(widest(load_bytes<vector_of_t<std::int8_t, n>>(at)), floats_n);
    } else {
      static_assert(Format == number_format::int4, "dimwise: numbers of this format are widened by nothing");
      // Two integers per byte, the first in the low bits, each stored with an offset of 8.
      using words = vector_of_t<std::uint16_t, n / 2>;
      const words b = __builtin_convertvector(load_bytes<vector_of_t<std::uint8_t, n / 2>>(at), words);
      const words spread = (b & 0x000fU) | ((b << 4) & 0x0f00U);
      return __builtin_convertvector(widest(reinterpret<vector_of_t<std::int8_t, n>>(spread)) - 8, floats_n);
    }
  }
  [[gnu::always_inline]] static int32_n widest(vector_of_t<std::int8_t, n> bytes_n) noexcept {
#if defined(__AVX2__)
    if constexpr (n == 8) {
      return reinterpret<int32_n>(_mm256_cvtepi8_epi32(_mm_cvtsi64_si128(load_bytes<long long>(&bytes_n))));
    }
#endif
#if defined(__AVX512F__)
    // Masked with all lanes on: g++ 12 warns of an uninitialized value in the plain intrinsic's header.
    if constexpr (n == 16) {
      return reinterpret<int32_n>(_mm512_maskz_cvtepi8_epi32(0xFFFF, load_bytes<__m128i>(&bytes_n)));
    }
#endif
    // g++ 12 converts from 8 to 32 bits element by element, but has an instruction for each of two steps.
    return __builtin_convertvector(__builtin_convertvector(bytes_n, vector_of_t<std::int16_t, n>), int32_n);
  }
  template <class To, class From>
  [[gnu::always_inline]] static To reinterpret(From v) noexcept {
    static_assert(sizeof(To) == sizeof(From));
    return load_bytes<To>(&v);
  }
};

enum class scaling { none, one, each };

// Widens rows in memory order, and prefetches as many of the next `ahead` rows meanwhile. Without the prefetch, a KV
// cache in DRAM is read at half the speed.
template <class Arch, number_format Format, scaling Scaling>
[[gnu::noinline]] void widen_rows_of(const quantised_data& from, std::size_t begin, std::size_t rows, std::size_t ahead,
                                     std::size_t features, float* to) noexcept {
  using widened = widen<Arch, Format>;
  using floats_n = typename widened::floats_n;
  constexpr std::size_t n = widened::n;
  // Strides of packed integers are in bytes.
  const std::ptrdiff_t row_bytes = from.row * static_cast<std::ptrdiff_t>(widened::bytes);
  const unsigned char* row =
      static_cast<const unsigned char*>(from.data) + static_cast<std::ptrdiff_t>(begin) * row_bytes;
  const floats_n one = floats_n{} + (Scaling == scaling::one ? *from.scale : 1.0F);
  for (std::size_t i = 0; i < rows; ++i, row += row_bytes, to += features) {
#if defined(__GNUC__)
    if (i < ahead) {
      const unsigned char* const later = row + static_cast<std::ptrdiff_t>(rows) * row_bytes;
      for (std::size_t byte = 0; byte < features * widened::bytes / (widened::packed ? 2 : 1); byte += 64)
        __builtin_prefetch(later + byte, 0, 3);
    }
#endif
    std::size_t c = 0;
    for (; c + n <= features; c += n) {
      floats_n x = widened::load(row, c);
      if constexpr (Scaling == scaling::one) x *= one;
      if constexpr (Scaling == scaling::each) x *= load_bytes<floats_n>(from.scale + c);
      __builtin_memcpy(to + c, &x, sizeof(x));
    }
    if (c == features) continue;
    const std::size_t size = (features - c) * sizeof(float);
    floats_n x = widened::load_partial(row, c, features - c);
    floats_n scale = one;
    if constexpr (Scaling == scaling::each) __builtin_memcpy(&scale, from.scale + c, size);
    if constexpr (Scaling != scaling::none) x *= scale;
    __builtin_memcpy(to + c, &x, size);
  }
}

template <class Arch, number_format Format>
void widen_scaled(const quantised_data& from, std::size_t begin, std::size_t rows, std::size_t ahead,
                  std::size_t features, float* to) noexcept {
  if (from.scale == nullptr) return widen_rows_of<Arch, Format, scaling::none>(from, begin, rows, ahead, features, to);
  if (from.scale_feature == 0) return widen_rows_of<Arch, Format, scaling::one>(from, begin, rows, ahead, features, to);
  if (from.scale_feature == 1)
    return widen_rows_of<Arch, Format, scaling::each>(from, begin, rows, ahead, features, to);
  widen_rows_of<Arch, Format, scaling::none>(from, begin, rows, ahead, features, to);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t c = 0; c < features; ++c)
      to[i * features + c] *= from.scale[static_cast<std::ptrdiff_t>(c) * from.scale_feature];
  }
}

// A `row_widener`.
template <class Arch>
void widen_rows(const quantised_data& from, std::size_t begin, std::size_t rows, std::size_t ahead,
                std::size_t features, float* to) noexcept {
  switch (from.format) {
    case number_format::bfloat16:
      return widen_scaled<Arch, number_format::bfloat16>(from, begin, rows, ahead, features, to);
    case number_format::float16:
      return widen_scaled<Arch, number_format::float16>(from, begin, rows, ahead, features, to);
    case number_format::int8:
      return widen_scaled<Arch, number_format::int8>(from, begin, rows, ahead, features, to);
    case number_format::int4:
      return widen_scaled<Arch, number_format::int4>(from, begin, rows, ahead, features, to);
    case number_format::float32:
      return;
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail

#pragma GCC diagnostic pop
