// dimwise/kernels/stored_rows.hpp -- keys and values that are stored in fewer bits, widened to float block by block.
//
// Layer: kernels. Includes: attention_layout.hpp, simd.hpp.
// Tests: tests/nn/cache_stored.test.cpp
//
// A block of rows is widened into a buffer of the first-level cache right before it is used, so that the cache of a
// model is read in the bits that it is stored in and never expanded whole. Vectors of the compiler convert: xsimd 8.1
// has no types of 16 bits.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention_layout.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>
#include <cstdint>

namespace dimwise::kernels::detail {

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

// One vector of numbers from where element c lies; `Format` says how.
template <class Arch, number_format Format>
struct widen {
  static constexpr std::size_t n = lanes<Arch>;
  using floats_n = vector_of_t<float, n>;
  using uint32_n = vector_of_t<std::uint32_t, n>;
  using int32_n = vector_of_t<std::int32_t, n>;
  static constexpr bool packed = Format == number_format::int4;
  static constexpr std::size_t bytes = Format == number_format::bfloat16 || Format == number_format::float16 ? 2 : 1;

  [[gnu::always_inline]] static floats_n load(const unsigned char* row, std::size_t c) noexcept {
    return from(row + (packed ? c / 2 : c * bytes));
  }
  // The elements from c to the end, in the first lanes.
  [[gnu::always_inline]] static floats_n load_partial(const unsigned char* row, std::size_t c, std::size_t count) noexcept {
    unsigned char part[n * bytes] = {};
    const std::size_t size = packed ? (count + 1) / 2 : count * bytes;
    __builtin_memcpy(part, row + (packed ? c / 2 : c * bytes), size);
    return from(part);
  }

 private:
  [[gnu::always_inline]] static floats_n from(const unsigned char* at) noexcept {
    if constexpr (Format == number_format::bfloat16) {
      return reinterpret<floats_n>(__builtin_convertvector(load_bytes<vector_of_t<std::uint16_t, n>>(at), uint32_n) << 16);
    } else if constexpr (Format == number_format::float16) {
      const uint32_n h = __builtin_convertvector(load_bytes<vector_of_t<std::uint16_t, n>>(at), uint32_n);
      // Exponent and fraction in their places; the product moves the bias and makes subnormals normal.
      const uint32_n shifted = (h & 0x7fffU) << 13;
      const uint32_n finite = reinterpret<uint32_n>(reinterpret<floats_n>(shifted) * 0x1p112F);
      const uint32_n special = reinterpret<uint32_n>(shifted >= 0x0f800000U) & 0x7f800000U;
      return reinterpret<floats_n>(finite | special | ((h & 0x8000U) << 16));
    } else if constexpr (Format == number_format::int8) {
      const int32_n i = __builtin_convertvector(load_bytes<vector_of_t<std::int8_t, n>>(at), int32_n);
      return __builtin_convertvector(i, floats_n);
    } else {
      // Two numbers a byte, the first in the low bits, each stored with 8 added.
      using words = vector_of_t<std::uint16_t, n / 2>;
      const words b = __builtin_convertvector(load_bytes<vector_of_t<std::uint8_t, n / 2>>(at), words);
      const words spread = (b & 0x000fU) | ((b << 4) & 0x0f00U);
      const int32_n i = __builtin_convertvector(reinterpret<vector_of_t<std::uint8_t, n>>(spread), int32_n);
      return __builtin_convertvector(i - 8, floats_n);
    }
  }
  template <class To, class From>
  [[gnu::always_inline]] static To reinterpret(From v) noexcept {
    static_assert(sizeof(To) == sizeof(From));
    return load_bytes<To>(&v);
  }
};

template <class Arch, number_format Format>
[[gnu::noinline]] void widen_rows_of(const stored_numbers& from, std::size_t begin, std::size_t rows, std::size_t features, float* to) noexcept {
  using widened = widen<Arch, Format>;
  using floats_n = typename widened::floats_n;
  constexpr std::size_t n = widened::n;
  // Strides of packed numbers count bytes.
  const std::ptrdiff_t row_bytes = from.row * static_cast<std::ptrdiff_t>(widened::bytes);
  const unsigned char* row = static_cast<const unsigned char*>(from.data) + static_cast<std::ptrdiff_t>(begin) * row_bytes;
  const auto scale_at = [&](std::size_t c, std::size_t count) __attribute__((always_inline)) {
    floats_n scale;
    if (from.scale == nullptr) return floats_n{} + 1.0F;
    if (from.scale_feature == 0) return floats_n{} + *from.scale;
    if (from.scale_feature == 1 && count == n) return load_bytes<floats_n>(from.scale + c);
    scale = floats_n{};
    for (std::size_t i = 0; i < count; ++i) scale[i] = from.scale[static_cast<std::ptrdiff_t>(c + i) * from.scale_feature];
    return scale;
  };
  for (std::size_t c = 0; c < features; c += n) {
    const std::size_t count = features - c < n ? features - c : n;
    const floats_n scale = scale_at(c, count);
    const unsigned char* at = row;
    for (std::size_t i = 0; i < rows; ++i, at += row_bytes) {
      if (count == n) {
        const floats_n x = widened::load(at, c) * scale;
        __builtin_memcpy(to + i * features + c, &x, sizeof(x));
      } else {
        const floats_n x = widened::load_partial(at, c, count) * scale;
        __builtin_memcpy(to + i * features + c, &x, count * sizeof(float));
      }
    }
  }
}

/// Rows [begin, begin + rows) as floats side by side.
template <class Arch>
void widen_rows(const stored_numbers& from, std::size_t begin, std::size_t rows, std::size_t features, float* to) noexcept {
  switch (from.format) {
    case number_format::bfloat16: return widen_rows_of<Arch, number_format::bfloat16>(from, begin, rows, features, to);
    case number_format::float16: return widen_rows_of<Arch, number_format::float16>(from, begin, rows, features, to);
    case number_format::int8: return widen_rows_of<Arch, number_format::int8>(from, begin, rows, features, to);
    case number_format::int4: return widen_rows_of<Arch, number_format::int4>(from, begin, rows, features, to);
    case number_format::float32: return;
  }
}

}  // namespace dimwise::kernels::detail
