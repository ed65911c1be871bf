// dimwise/kernels/decode/stored.hpp -- query rows against low-precision keys and values, converted in registers.
//
// Layer: kernels. Includes: decode/block.hpp, quantised/rows.hpp.
// Tests: tests/kernels/decode/stored.test.cpp. Benchmark: benchmarks/kernels/attention.cpp
//
// A block that is first widened to a buffer is written and read again, and takes three times its bytes in the L1 cache.
// Here elements are loaded as stored, converted, and combined with up to four query rows at once. Scales are the
// caller's: keys are multiplied by their scale in the query, or in the score, and values in the output.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/layout.hpp>
#include <dimwise/kernels/decode/block.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/quantised/rows.hpp>

#include <cstddef>

// A value that a switch does not handle fails to compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

/// Rows of numbers in `Format`, without their scale.
template <class Arch, number_format Format>
struct stored_rows {
  using widened = widen<Arch, Format>;
  static constexpr std::size_t bytes = widened::bytes;
  static constexpr bool prefetches = true;
  static_assert(bytes == bytes_in_register(Format));

  const unsigned char* data;
  std::ptrdiff_t row_bytes;

  stored_rows(const quantised_data& of, std::size_t begin) noexcept
      : data(static_cast<const unsigned char*>(of.data) + static_cast<std::ptrdiff_t>(begin * bytes) * of.row),
        row_bytes(of.row * static_cast<std::ptrdiff_t>(bytes)) {}
  stored_rows(const unsigned char* at, std::ptrdiff_t row) noexcept : data(at), row_bytes(row) {}

  [[nodiscard, gnu::always_inline]] stored_rows from(std::size_t i, std::size_t c = 0) const noexcept {
    return {data + static_cast<std::ptrdiff_t>(i) * row_bytes + c * bytes, row_bytes};
  }
  [[nodiscard, gnu::always_inline]] floats<Arch> load(std::size_t i, std::size_t c) const noexcept {
    return in_register(widened::load(data + static_cast<std::ptrdiff_t>(i) * row_bytes, c));
  }
  [[nodiscard, gnu::always_inline]] floats<Arch> load_partial(std::size_t i, std::size_t c,
                                                              std::size_t count) const noexcept {
    return in_register(widened::load_partial(data + static_cast<std::ptrdiff_t>(i) * row_bytes, c, count));
  }

 private:
  [[nodiscard, gnu::always_inline]] static floats<Arch> in_register(typename widened::floats_n x) noexcept {
    return floats<Arch>(load_bytes<raw_floats<Arch>>(&x));
  }
};

template <class Arch, number_format Format>
void score_stored_rows(const quantised_data& k, std::size_t begin, std::size_t keys, std::size_t features,
                       const query_rows& q, float* scores, next_lines ahead) noexcept {
  each_rows(q.rows, [&](auto rows, std::size_t r) __attribute__((always_inline)) {
    dot_block<Arch, decltype(rows)::value>(q.data + r * q.row, q.row, stored_rows<Arch, Format>(k, begin), features,
                                           keys, k.scale != nullptr && k.scale_feature == 0 ? *k.scale : 1.0F,
                                           scores + r * decode_score_row, ahead);
    ahead.step = 0;
  });
}

template <class Arch, number_format Format>
void add_stored_rows(const quantised_data& v, std::size_t begin, std::size_t keys, std::size_t features,
                     const float* weights, const output_rows& out, next_lines ahead) noexcept {
  each_rows(out.rows, [&](auto rows, std::size_t r) __attribute__((always_inline)) {
    add_block<Arch, decltype(rows)::value>(weights + r * decode_score_row, stored_rows<Arch, Format>(v, begin), keys,
                                           features, out.data + r * out.row, out.row, out.rescale + r, ahead);
    ahead.step = 0;
  });
}

// A `row_scorer`.
template <class Arch>
void score_stored(const quantised_data& k, std::size_t begin, std::size_t keys, std::size_t features,
                  const query_rows& q, float* scores, next_lines ahead) noexcept {
  switch (k.format) {
    case number_format::bfloat16:
      return score_stored_rows<Arch, number_format::bfloat16>(k, begin, keys, features, q, scores, ahead);
    case number_format::float16:
      return score_stored_rows<Arch, number_format::float16>(k, begin, keys, features, q, scores, ahead);
    case number_format::int8:
      return score_stored_rows<Arch, number_format::int8>(k, begin, keys, features, q, scores, ahead);
    case number_format::int4:
    case number_format::float32:
      return;
  }
}

// A `row_adder`.
template <class Arch>
void add_stored(const quantised_data& v, std::size_t begin, std::size_t keys, std::size_t features,
                const float* weights, const output_rows& out, next_lines ahead) noexcept {
  switch (v.format) {
    case number_format::bfloat16:
      return add_stored_rows<Arch, number_format::bfloat16>(v, begin, keys, features, weights, out, ahead);
    case number_format::float16:
      return add_stored_rows<Arch, number_format::float16>(v, begin, keys, features, weights, out, ahead);
    case number_format::int8:
      return add_stored_rows<Arch, number_format::int8>(v, begin, keys, features, weights, out, ahead);
    case number_format::int4:
    case number_format::float32:
      return;
  }
}

/// The functions of low-precision rows, for `quantised_data`.
template <class Arch>
inline constexpr stored_row_kernels stored_kernels_of{&widen_rows<Arch>, &score_stored<Arch>, &add_stored<Arch>};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail

#pragma GCC diagnostic pop
