// dimwise/kernels/attention_small.hpp -- attention whose extents the compiler knows, for problems of some hundred
// numbers.
//
// Layer: kernels. Includes: attention_pack.hpp, exp.hpp.
// Tests: tests/kernels/attention_small.test.cpp. Benchmark: benchmarks/kernels_attention.cpp
//
// No scratch, no tasks, no blocks: every loop has a constant count, scores live in registers, and what a causal mask
// hides is not computed. As in the large kernel, lanes are queries until the weights are known; then lanes are
// features.
//
//   attention_small<Arch, 6, 6, 24, 28>(q, 24, k, 24, v, 28, out, 28, scale);
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention_pack.hpp>
#include <dimwise/kernels/exp.hpp>

#include <cstddef>
#include <type_traits>

namespace dimwise::kernels {

/// Extents for which the unrolled kernel is meant: beyond them the tiled one is as fast and smaller.
template <std::size_t Queries, std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim>
inline constexpr bool attention_small_fits = Queries <= 32 && Keys <= 32 && HeadDim <= 64 && ValueDim <= 64 &&
                                             Queries* Keys*(HeadDim + ValueDim) <= 16384;

namespace detail {

// A register of 16 floats for 6 queries wastes ten lanes and takes twice the shuffles of one of 8.
#if XSIMD_WITH_AVX512F && XSIMD_WITH_FMA3_AVX2
template <class Arch, std::size_t Count>
using fitting_arch = std::conditional_t<is_avx512<Arch> && (Count <= 8), xsimd::fma3<xsimd::avx2>, Arch>;
#else
template <class Arch, std::size_t Count>
using fitting_arch = Arch;
#endif

template <std::size_t A, std::size_t B>
inline constexpr std::size_t smaller_extent = A < B ? A : B;

// The arithmetic of up to one register of queries. Arch names the caller's architecture in every symbol.
template <class Arch, std::size_t Queries, std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim, bool Causal>
struct small_group {
  using query_arch = fitting_arch<Arch, Queries>;
  using value_arch = fitting_arch<Arch, ValueDim>;
  static constexpr std::size_t width = lanes<query_arch>;
  static_assert(Queries <= width);

  // weights[j][i], normalised. `first` is the index of the group's first query.
  static void weigh(const matrix_view<const float>& q, const matrix_view<const float>& k, float scale,
                    std::size_t first, float (&weights)[Keys][width]) noexcept {
    using vec = floats<query_arch>;
    alignas(64) float strip[HeadDim + 1][width];
    transpose_queries(q, scale, strip);
    vec score[Keys];
    score_keys(k, strip, score);
    if constexpr (Causal) hide_later_keys(first, score);
    vec maximum(-infinity);
#pragma GCC unroll 32
    for (std::size_t j = 0; j < Keys; ++j) maximum = max_skip_nan<query_arch>(score[j], maximum);
    const vec nothing(-infinity);
    const vec against = select<query_arch>(maximum == nothing, vec(0.0F), maximum);
    vec sum(0.0F);
#pragma GCC unroll 32
    for (std::size_t j = 0; j < Keys; ++j) {
      score[j] = exp_nonpositive<query_arch>(score[j] - against);
      sum = sum + score[j];
    }
    const vec inverse = select<query_arch>(sum == vec(0.0F), vec(0.0F), vec(1.0F) / sum);
#pragma GCC unroll 32
    for (std::size_t j = 0; j < Keys; ++j) store_aligned<query_arch>(&weights[j][0], score[j] * inverse);
  }

  // out[i] = sum_j weights[j][i] v[j], a few rows and one or two vectors of features at a time.
  static void add_values(const float (&weights)[Keys][width], const matrix_view<const float>& v, std::size_t first,
                         const matrix_view<float>& out) noexcept {
    constexpr std::size_t n = lanes<value_arch>;
    constexpr std::size_t whole = ValueDim / (2 * n) * (2 * n);
#pragma GCC unroll 8
    for (std::size_t c = 0; c < whole; c += 2 * n) add_columns<2 * n>(weights, v, first, out, c);
    if constexpr (ValueDim > whole) add_columns<ValueDim - whole>(weights, v, first, out, whole);
  }

 private:
  static void transpose_queries(const matrix_view<const float>& q, float scale,
                                float (&strip)[HeadDim + 1][width]) noexcept {
    for (std::size_t c = 0; c < HeadDim; c += width) {
      const std::size_t wide = HeadDim - c < width ? HeadDim - c : width;
      square<query_arch> corner;
#pragma GCC unroll 16
      for (std::size_t i = 0; i < width; ++i) {
        if (i >= Queries) corner[i] = floats<query_arch>(0.0F);
        else if (wide == width) corner[i] = load<query_arch>(q.at(i, c));
        else corner[i] = load_partial<query_arch>(q.at(i, c), wide);
      }
      transpose<query_arch>(corner);
#pragma GCC unroll 16
      for (std::size_t r = 0; r < width; ++r) {
        if (r < wide) store_aligned<query_arch>(&strip[c + r][0], corner[r] * floats<query_arch>(scale));
      }
    }
  }

  // As many keys at once as leave registers for the rest.
  static void score_keys(const matrix_view<const float>& k, const float (&strip)[HeadDim + 1][width],
                         floats<query_arch> (&score)[Keys]) noexcept {
#pragma GCC unroll 32
    for (std::size_t j = 0; j < Keys; ++j) score[j] = floats<query_arch>(0.0F);
    constexpr std::size_t many = smaller_extent<Keys, 12>;
#pragma GCC unroll 4
    for (std::size_t begin = 0; begin < Keys; begin += many) {
      for (std::size_t c = 0; c < HeadDim; ++c) {
        const floats<query_arch> query = load_aligned<query_arch>(&strip[c][0]);
#pragma GCC unroll 12
        for (std::size_t j = begin; j < begin + many; ++j) {
          if (j < Keys) score[j] = fma<query_arch>(floats<query_arch>(*k.at(j, c)), query, score[j]);
        }
      }
    }
  }

  static void hide_later_keys(std::size_t first, floats<query_arch> (&score)[Keys]) noexcept {
    const ints<query_arch> query = lane_indices<query_arch>() + ints<query_arch>(static_cast<std::int32_t>(first));
#pragma GCC unroll 32
    for (std::size_t j = 0; j < Keys; ++j) {
      score[j] = select<query_arch>(as_mask<query_arch>(query < ints<query_arch>(static_cast<std::int32_t>(j))),
                                    floats<query_arch>(-infinity), score[j]);
    }
  }

  template <std::size_t Features>
  [[gnu::always_inline]] static floats<value_arch> load_values(const float* from, std::size_t vector) noexcept {
    constexpr std::size_t n = lanes<value_arch>;
    if ((vector + 1) * n <= Features) return load<value_arch>(from + vector * n);
    return load_partial<value_arch>(from + vector * n, Features - vector * n);
  }

  template <std::size_t Features>
  static void add_columns(const float (&weights)[Keys][width], const matrix_view<const float>& v, std::size_t first,
                          const matrix_view<float>& out, std::size_t column) noexcept {
    constexpr std::size_t n = lanes<value_arch>;
    constexpr std::size_t vectors = (Features + n - 1) / n;
    constexpr std::size_t rows = smaller_extent<Queries, (has_32_registers<Arch> ? 8 : 4)>;
#pragma GCC unroll 8
    for (std::size_t begin = 0; begin < Queries; begin += rows) {
      floats<value_arch> acc[rows][vectors];
#pragma GCC unroll 8
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t x = 0; x < vectors; ++x) acc[i][x] = floats<value_arch>(0.0F);
      }
#pragma GCC unroll 32
      for (std::size_t j = 0; j < Keys; ++j) {
        floats<value_arch> value[vectors];
        for (std::size_t x = 0; x < vectors; ++x) value[x] = load_values<Features>(v.at(j, column), x);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < rows; ++i) {
          // A hidden key is left out, not weighed 0: its value may be NaN.
          if (begin + i >= Queries || (Causal && j > first + begin + i)) continue;
          const floats<value_arch> weight(weights[j][begin + i]);
          for (std::size_t x = 0; x < vectors; ++x) acc[i][x] = fma<value_arch>(weight, value[x], acc[i][x]);
        }
      }
#pragma GCC unroll 8
      for (std::size_t i = 0; i < rows; ++i) {
        if (begin + i < Queries) store_row<Features>(acc[i], out.at(begin + i, column));
      }
    }
  }

  template <std::size_t Features, std::size_t Vectors>
  [[gnu::always_inline]] static void store_row(const floats<value_arch> (&row)[Vectors], float* to) noexcept {
    constexpr std::size_t n = lanes<value_arch>;
#pragma GCC unroll 2
    for (std::size_t x = 0; x < Vectors; ++x) {
      if ((x + 1) * n <= Features) store<value_arch>(to + x * n, row[x]);
      else store_partial<value_arch>(to + x * n, Features - x * n, row[x]);
    }
  }
};

}  // namespace detail

/// out = softmax(scale * q k^T) v for one head; with `Causal`, query i sees the keys up to i. Rows have unit stride in
/// their features. A query that sees nothing (no keys) gets 0.
template <class Arch, std::size_t Queries, std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim,
          bool Causal = false>
void attention_small(const float* q, std::ptrdiff_t q_row, const float* k, std::ptrdiff_t k_row, const float* v,
                     std::ptrdiff_t v_row, float* out, std::ptrdiff_t out_row, float scale) noexcept {
  constexpr std::size_t width = lanes<detail::fitting_arch<Arch, Queries>>;
  constexpr std::size_t many = detail::smaller_extent<Queries, width>;
  if constexpr (Queries > 0 && Keys > 0) {
    const detail::matrix_view<const float> keys{k, k_row, 1};
    const detail::matrix_view<const float> values{v, v_row, 1};
    const auto group = [&]<std::size_t Count>(std::size_t first, std::integral_constant<std::size_t, Count>) {
      using small = detail::small_group<Arch, Count, Keys, HeadDim, ValueDim, Causal>;
      alignas(64) float weights[Keys][small::width];
      const auto row = static_cast<std::ptrdiff_t>(first);
      small::weigh({q + row * q_row, q_row, 1}, keys, scale, first, weights);
      small::add_values(weights, values, first, {out + row * out_row, out_row, 1});
    };
    std::size_t first = 0;
    for (; first + many <= Queries; first += many) group(first, std::integral_constant<std::size_t, many>{});
    if constexpr (Queries % many != 0) group(first, std::integral_constant<std::size_t, Queries % many>{});
  } else {
    for (std::size_t i = 0; i < Queries; ++i) {
      for (std::size_t c = 0; c < ValueDim; ++c)
        out[static_cast<std::ptrdiff_t>(i) * out_row + static_cast<std::ptrdiff_t>(c)] = 0.0F;
    }
  }
}

}  // namespace dimwise::kernels
