// SPDX-License-Identifier: BSL-1.0
// dimwise/support/number_format.hpp -- low-precision element types: bfloat16, float16, int8 and int4.
//
// Layer: support. Tensors may have these element types; expressions read them through `widened` and `dequantised`.
// Tests: tests/nn/cache/bfloat16.test.cpp
//
//   tensor<bfloat16, key, d_k> k;      contract<d_k>(q, widened(k))
#pragma once

#include <dimwise/support/math.hpp>

#include <bit>
#include <cstdint>

namespace dimwise {

namespace kernels {

/// The storage formats of keys and values.
enum class number_format : unsigned char { float32, bfloat16, float16, int8, int4 };

}  // namespace kernels

/// The upper half of a float: the same range, 8 bits of precision. Conversion rounds to nearest, ties to even; NaN
/// stays NaN, and values beyond the largest become infinite.
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  /// Rounds to nearest, ties to even. The conversion back to float is exact.
  explicit constexpr bfloat16(float x) : bits(of(x)) {}
  explicit constexpr operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

 private:
  static constexpr std::uint16_t of(float x) {
    const auto u = std::bit_cast<std::uint32_t>(x);
    if ((u & 0x7fffffffU) > 0x7f800000U) { return static_cast<std::uint16_t>((u >> 16) | 0x40U); }  // NaN stays NaN
    return static_cast<std::uint16_t>((u + 0x7fffU + ((u >> 16) & 1U)) >> 16);
  }
};

/// IEEE half precision: 11 bits of precision up to 65504. Conversion rounds to nearest, ties to even; NaN stays NaN,
/// and 65520 and above become infinite.
struct float16 {
  std::uint16_t bits = 0;

  float16() = default;
  /// Rounds to nearest, ties to even. The conversion back to float is exact.
  explicit constexpr float16(float x) : bits(of(x)) {}
  explicit constexpr operator float() const {
    const std::uint32_t shifted = (bits & 0x7fffU) << 13;
    const auto finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(shifted) * 0x1p112F);
    const std::uint32_t special = shifted >= 0x0f800000U ? 0x7f800000U : 0U;
    return std::bit_cast<float>(finite | special | ((bits & 0x8000U) << 16));
  }

 private:
  static constexpr std::uint16_t of(float x) {
    const auto u = std::bit_cast<std::uint32_t>(x);
    const auto sign = static_cast<std::uint16_t>((u >> 16) & 0x8000U);
    const std::uint32_t magnitude = u & 0x7fffffffU;
    if (magnitude > 0x7f800000U) { return static_cast<std::uint16_t>(sign | 0x7e00U); }
    if (magnitude >= 0x477ff000U) {
      return static_cast<std::uint16_t>(sign | 0x7c00U);
    }  // 65520 and above round to infinity
    if (magnitude < 0x38800000U) {
      // Subnormal: adding 0.5 leaves the result in the last bits, and the addition rounds it.
      const float moved = std::bit_cast<float>(magnitude) + 0.5F;
      return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(moved) - 0x3f000000U));
    }
    const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
    return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
  }
};

/// Two integers from −8 to 7 in one byte, the first in the low bits, each stored with an offset of 8.
struct int4_pair {
  std::uint8_t bits = 0x88;

  int4_pair() = default;
  /// Constructs a pair of integers from −8 to 7.
  constexpr int4_pair(int first, int second) : bits(static_cast<std::uint8_t>((first + 8) | ((second + 8) << 4))) {}
  /// The two integers.
  [[nodiscard]] constexpr int first() const { return (bits & 0x0f) - 8; }
  [[nodiscard]] constexpr int second() const { return (bits >> 4) - 8; }
};

/// The integer nearest to x / scale within [low, high]; ties to even. Caches reject x that is not finite; here an
/// infinity gives the bound and NaN gives 0.
[[nodiscard]] inline int quantised_number(float x, float scale, int low, int high) {
  const float q = scale == 0.0F ? 0.0F : detail::math::nearbyint(x / scale);
  if (!(q > static_cast<float>(low))) { return q != q ? 0 : low; }
  return q < static_cast<float>(high) ? static_cast<int>(q) : high;
}

namespace detail {

template <class T>
inline constexpr kernels::number_format format_of = kernels::number_format::float32;
template <>
inline constexpr kernels::number_format format_of<bfloat16> = kernels::number_format::bfloat16;
template <>
inline constexpr kernels::number_format format_of<float16> = kernels::number_format::float16;
template <>
inline constexpr kernels::number_format format_of<std::int8_t> = kernels::number_format::int8;
template <>
inline constexpr kernels::number_format format_of<int4_pair> = kernels::number_format::int4;

}  // namespace detail
}  // namespace dimwise
