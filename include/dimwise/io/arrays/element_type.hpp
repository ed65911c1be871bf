// SPDX-License-Identifier: BSL-1.0
// dimwise/io/arrays/element_type.hpp -- the element types of files, and their correspondence to C++ types.
//
// Layer: io. A file's element type is a value, a tensor's is a C++ type. `read_elements` and `write_elements` convert.
// Tests: tests/io/safetensors.test.cpp
#pragma once

#include <dimwise/io/files/error.hpp>
#include <dimwise/support/element.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace dimwise::io {

static_assert(std::endian::native == std::endian::little,
              "dimwise::io: the formats are little-endian, as they are read");

/// The element types of safetensors, the quantized types of GGUF, and MXFP4, whose scales are in an array of their own.
/// Tensors are read from the first nine, from the last three, and from F8_E4M3 with scales.
enum class element_type : unsigned char {
  f64,
  f32,
  f16,
  bf16,
  i64,
  i32,
  i8,
  u8,
  boolean,  // clang-format off
  i16, u16, u32, u64, c64, f8_e5m2, f8_e4m3, f8_e8m0, f8_e4m3fnuz, f8_e5m2fnuz, f6_e2m3, f6_e3m2, f4,
  q8_0, q4_0, mxfp4,  // clang-format on
};

namespace detail {

struct element_facts {
  std::string_view name;  // in safetensors and in messages
  std::size_t bits;       // of one element or block
  std::size_t block = 1;  // elements per block
};
inline constexpr std::array<element_facts, 25> all_element_facts{{
    {"F64", 64},    {"F32", 32},    {"F16", 16},        {"BF16", 16},       {"I64", 64},
    {"I32", 32},    {"I8", 8},      {"U8", 8},          {"BOOL", 8},        {"I16", 16},
    {"U16", 16},    {"U32", 32},    {"U64", 64},        {"C64", 64},        {"F8_E5M2", 8},
    {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F6_E2M3", 6},
    {"F6_E3M2", 6}, {"F4", 4},      {"Q8_0", 272, 32},  {"Q4_0", 144, 32},  {"MXFP4", 136, 32},
}};
constexpr const element_facts& facts_of(element_type t) { return all_element_facts[static_cast<std::size_t>(t)]; }

}  // namespace detail

/// The name in safetensors: "F32", "BF16", ….
[[nodiscard]] constexpr std::string_view name_of(element_type t) { return detail::facts_of(t).name; }
/// The type of this name; empty for names that safetensors lacks.
[[nodiscard]] constexpr std::optional<element_type> element_type_named(std::string_view name) {
  for (std::size_t i = 0; i < detail::all_element_facts.size(); ++i) {
    if (detail::all_element_facts[i].name == name && detail::all_element_facts[i].block == 1) {
      return static_cast<element_type>(i);
    }
  }
  return std::nullopt;
}

/// The size of `count` elements in bytes; empty if it overflows or ends within a byte or a block.
[[nodiscard]] constexpr std::optional<std::size_t> bytes_of(element_type t, std::size_t count) {
  const detail::element_facts& facts = detail::facts_of(t);
  std::size_t bits = 0;
  if (count % facts.block != 0 || __builtin_mul_overflow(count / facts.block, facts.bits, &bits) || bits % 8 != 0) {
    return std::nullopt;
  }
  return bits / 8;
}

/// The number of elements of these extents; empty if it overflows, even before an extent of 0.
template <class Extents>
[[nodiscard]] constexpr std::optional<std::size_t> count_of(const Extents& extents) {
  std::size_t count = 1;
  for (const std::size_t n : extents) {
    if (__builtin_mul_overflow(count, n, &count)) { return std::nullopt; }
  }
  return count;
}

namespace detail {

template <class T>
inline constexpr std::optional<element_type> written_as = std::nullopt;
template <>
inline constexpr std::optional<element_type> written_as<double> = element_type::f64;
template <>
inline constexpr std::optional<element_type> written_as<float> = element_type::f32;
template <>
inline constexpr std::optional<element_type> written_as<float16> = element_type::f16;
template <>
inline constexpr std::optional<element_type> written_as<bfloat16> = element_type::bf16;
template <>
inline constexpr std::optional<element_type> written_as<std::int64_t> = element_type::i64;
template <>
inline constexpr std::optional<element_type> written_as<std::int32_t> = element_type::i32;
template <>
inline constexpr std::optional<element_type> written_as<std::int8_t> = element_type::i8;
template <>
inline constexpr std::optional<element_type> written_as<std::uint8_t> = element_type::u8;
template <>
inline constexpr std::optional<element_type> written_as<bool> = element_type::boolean;

}  // namespace detail

/// Element types of tensors in files: double, float, float16, bfloat16, std::int64_t, int32_t, int8_t, uint8_t, bool.
template <class T>
concept file_element = detail::written_as<T>.has_value();
template <file_element T>
inline constexpr element_type element_type_of = *detail::written_as<T>;

}  // namespace dimwise::io
