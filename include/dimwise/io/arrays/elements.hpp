// SPDX-License-Identifier: BSL-1.0
// dimwise/io/arrays/elements.hpp -- copies elements between files and tensors, with conversion of type and axis order.
//
// Layer: io.
// Tests: tests/io/checkpoint.test.cpp
#pragma once

#include <dimwise/io/archive.hpp>
#include <dimwise/io/arrays/stored_order.hpp>
#include <dimwise/support/library.hpp>

#include <limits>

namespace dimwise::io {

/// Whether reading may round elements; otherwise a type of lower precision is a mismatch.
enum class rounding : unsigned char { refused, allowed };

namespace detail {

// Reads elements stored as a C++ type, by index.
template <class S>
struct plain_source {
  const std::byte* bytes;
  [[nodiscard]] S operator()(std::size_t i) const {
    S value;
    std::memcpy(&value, bytes + i * sizeof(S), sizeof(S));
    return value;
  }
};
template <>
struct plain_source<bool> {
  const std::byte* bytes;
  [[nodiscard]] bool operator()(std::size_t i) const { return bytes[i] != std::byte{0}; }
};
// Blocks of 32 integers and a float16 scale (llama.cpp's Q8_0 and Q4_0).
struct q8_source {
  const std::byte* bytes;
  [[nodiscard]] float operator()(std::size_t i) const {
    const std::byte* const block = bytes + i / 32 * 34;
    return static_cast<float>(plain_source<float16>{block}(0)) *
           static_cast<float>(plain_source<std::int8_t>{block + 2}(i % 32));
  }
};
struct q4_source {
  const std::byte* bytes;
  [[nodiscard]] float operator()(std::size_t i) const {
    const std::byte* const block = bytes + i / 32 * 18;
    const auto two = std::to_integer<int>(block[2 + i % 16]);
    return static_cast<float>(plain_source<float16>{block}(0)) *
           static_cast<float>((i % 32 < 16 ? two & 15 : two >> 4) - 8);
  }
};

// Elements of 4 bits, the even one of two in the low bits of a byte, and a scale 2^(s - 127) for each 32 of them, NaN
// for 255 (MXFP4 of the Open Compute Project's Microscaling Formats, as gpt-oss stores it).
struct mxfp4_source {
  const std::byte* bytes;
  const std::byte* scales;
  [[nodiscard]] float operator()(std::size_t i) const {
    constexpr float magnitudes[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    const auto two = std::to_integer<unsigned>(bytes[i / 2]);
    const unsigned four = i % 2 == 0 ? two & 15U : two >> 4U;
    const auto s = std::to_integer<std::uint32_t>(scales[i / 32]);
    // 2^-127 is subnormal. The bits of 255 alone would be an infinity.
    const std::uint32_t bits = s == 0 ? std::uint32_t{1} << 22U : (s == 255 ? 0x7fc00000U : s << 23U);
    const auto scale = std::bit_cast<float>(bits);
    return (four < 8 ? magnitudes[four] : -magnitudes[four - 8]) * scale;
  }
};

// Elements of 8 bits (4 of the exponent, 3 of the fraction, no infinity), and a float scale for each block of rows and
// columns.
struct fp8_source {
  const std::byte* bytes;
  const std::byte* scales;
  std::size_t columns;
  std::size_t block_rows;
  std::size_t block_columns;
  [[nodiscard]] float operator()(std::size_t i) const {
    const auto code = std::to_integer<std::uint32_t>(bytes[i]);
    const std::uint32_t exponent = code >> 3U & 15U;
    const std::uint32_t fraction = code & 7U;
    float value = exponent == 0 ? static_cast<float>(fraction) / 512
                                : std::bit_cast<float>((exponent + 120U) << 23U | fraction << 20U);
    if (exponent == 15 && fraction == 7) { value = std::numeric_limits<float>::quiet_NaN(); }
    const std::size_t scale =
        i / columns / block_rows * ((columns - 1) / block_columns + 1) + i % columns / block_columns;
    return (code < 128 ? value : -value) * plain_source<float>{scales}(scale);
  }
};

// Whether T represents every value of S.
template <class T, class S>
consteval bool holds_every() {
  if constexpr (std::is_same_v<T, S>) {
    return true;
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<S, bool>) {
    return false;
  } else if constexpr (std::is_floating_point_v<T>) {
    return !std::is_integral_v<S> && sizeof(S) < sizeof(T);
  } else {
    return std::is_integral_v<T> && std::is_integral_v<S> && sizeof(S) < sizeof(T) &&
           (std::is_signed_v<T> || std::is_unsigned_v<S>);
  }
}
template <class T>
inline constexpr bool is_real =
    std::is_floating_point_v<T> || std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T, class S>
inline constexpr bool may_be_read = holds_every<T, S>() || (is_real<T> && is_real<S>);

template <class T, class S>
T converted_element(S value) {
  if constexpr (std::is_same_v<T, S>) {
    return value;
  } else if constexpr (std::is_same_v<T, double> || std::is_same_v<S, double>) {
    if constexpr (std::is_floating_point_v<T> && std::is_floating_point_v<S>) {
      return static_cast<T>(value);
    } else {
      return static_cast<T>(static_cast<float>(value));
    }
  } else if constexpr (is_real<T>) {
    return static_cast<T>(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// Calls f(source, whether T represents all its values); returns false for element types without a C++ type.
template <class F>
bool visit_elements(const stored_array& from, const F& f) {
  const std::byte* const b = from.bytes.data();
  switch (from.type) {
    case element_type::f64:
      f(plain_source<double>{b});
      return true;
    case element_type::f32:
      f(plain_source<float>{b});
      return true;
    case element_type::f16:
      f(plain_source<float16>{b});
      return true;
    case element_type::bf16:
      f(plain_source<bfloat16>{b});
      return true;
    case element_type::i64:
      f(plain_source<std::int64_t>{b});
      return true;
    case element_type::i32:
      f(plain_source<std::int32_t>{b});
      return true;
    case element_type::i8:
      f(plain_source<std::int8_t>{b});
      return true;
    case element_type::u8:
      f(plain_source<std::uint8_t>{b});
      return true;
    case element_type::boolean:
      f(plain_source<bool>{b});
      return true;
    case element_type::q8_0:
      f(q8_source{b});
      return true;
    case element_type::q4_0:
      f(q4_source{b});
      return true;
    case element_type::mxfp4:
      f(mxfp4_source{b, from.scales.data()});
      return true;
    case element_type::f8_e4m3:
      if (from.scales.empty()) { return false; }
      f(fp8_source{b, from.scales.data(), from.extents[1], from.scale_block[0], from.scale_block[1]});
      return true;
    default:
      return false;
  }
}
template <class Source>
using element_from = std::remove_cvref_t<decltype(std::declval<const Source&>()(0))>;

// The reason why elements of this type cannot be read as T; empty if they can.
template <class T>
std::string unreadable(const stored_array& from, rounding how) {
  std::string why;
  const auto ask = [&]<class Source>(const Source&) {
    using S = element_from<Source>;
    if constexpr (!may_be_read<T, S>) {
      why = "cannot be read as " + std::string(name_of(element_type_of<T>));
    } else if constexpr (!holds_every<T, S>()) {
      if (how == rounding::refused) {
        why = "would be rounded to " + std::string(name_of(element_type_of<T>)) + ", which was not allowed";
      }
    }
  };
  if (!visit_elements(from, ask)) { why = "has a type that tensors do not support"; }
  return why;
}

// Calls f(index in the file, index in the parameter, …) once per innermost loop of a part.
template <class F>
void each_run(const arrangement& how, const F& f) {
  std::vector<step> steps = how.steps;
  if (steps.empty()) { steps.push_back({1, 0, 1}); }
  if (steps.back().file_stride != 1) { steps.push_back({1, 0, 1}); }
  const std::size_t rank = steps.size();
  for (const step& s : steps) {
    if (s.count == 0) { return; }
  }
  std::vector<std::size_t> at(rank, 0);
  for (;;) {
    std::size_t there = 0;
    std::size_t place = how.begin;
    for (std::size_t i = 0; i + 1 < rank; ++i) {
      place += at[i] * steps[i].file_stride;
      there += at[i] * steps[i].stride;
    }
    f(place, there, steps[rank - 1]);
    std::size_t i = rank - 1;
    while (i > 0 && ++at[i - 1] == steps[i - 1].count) { at[--i] = 0; }
    if (i == 0) { return; }
  }
}

// Reads a part of an array that fits; adds `added` to every element.
template <class T>
void read_elements(const stored_array& from, const arrangement& how, T* to, double added) {
  (void)visit_elements(from, [&]<class Source>(const Source& source) {
    using S = element_from<Source>;
    if constexpr (may_be_read<T, S>) {
      each_run(how, [&](std::size_t place, std::size_t there, const step& run) {
        if (std::is_same_v<Source, plain_source<T>> && !std::is_same_v<T, bool> && run.stride == 1) {
          std::memcpy(to + there, from.bytes.data() + place * sizeof(T), run.count * sizeof(T));
        } else {
          for (std::size_t i = 0; i < run.count; ++i) {
            to[there + i * run.stride] = converted_element<T>(source(place + i));
          }
        }
      });
    }
  });
  if constexpr (std::is_floating_point_v<T>) {
    if (added != 0) {
      each_run(how, [&](std::size_t, std::size_t there, const step& run) {
        for (std::size_t i = 0; i < run.count; ++i) { to[there + i * run.stride] += static_cast<T>(added); }
      });
    }
  }
}

// Writes a parameter into its part of an array with the same element type.
template <class T>
void write_elements(const T* from, const arrangement& how, std::byte* to, double added) {
  each_run(how, [&](std::size_t place, std::size_t there, const step& run) {
    for (std::size_t i = 0; i < run.count; ++i) {
      T value = from[there + i * run.stride];
      if constexpr (std::is_floating_point_v<T>) { value -= static_cast<T>(added); }
      std::memcpy(to + (place + i) * sizeof(T), &value, sizeof(T));
    }
  });
}

#if DIMWISE_DETAIL_HAS_LIBRARY
#define DIMWISE_DETAIL_FILE_ELEMENTS(T)                                                                       \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE std::string unreadable<T>(const stored_array&, rounding);                   \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void read_elements<T>(const stored_array&, const arrangement&, T*, double); \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void write_elements<T>(const T*, const arrangement&, std::byte*, double);
DIMWISE_DETAIL_FILE_ELEMENTS(float)
DIMWISE_DETAIL_FILE_ELEMENTS(double)
DIMWISE_DETAIL_FILE_ELEMENTS(float16)
DIMWISE_DETAIL_FILE_ELEMENTS(bfloat16)
DIMWISE_DETAIL_FILE_ELEMENTS(std::int64_t)
#undef DIMWISE_DETAIL_FILE_ELEMENTS
#endif

}  // namespace detail
}  // namespace dimwise::io
