// dimwise/kernels/simd.hpp -- the wrapper of xsimd: batches, fma, tails, reductions, transposes.
//
// Layer: kernels. Includes: xsimd and light standard headers only.
// Tests: tests/kernels/simd.test.cpp
//
// An architecture is an instruction set and an element type: a tag of xsimd computes in float, `in_double<tag>` in
// double. All functions are templates over it, so that code compiled with AVX-512 flags has AVX-512 in its
// symbol, and the linker cannot use it in a baseline program. Hides differences between xsimd 8.1 and 14 in names and
// correctness (the AVX-512 fma of 8.1 is a multiply and an add).
//
//   floats<Arch> x = load<Arch>(p);
//   x = fma(x, y, z);                              // one rounding if the machine has fma
//   store_partial<Arch>(p, count, x);              // does not write p[count]
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>

#include <xsimd/xsimd.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

/// Scratch memory and packed panels start at a multiple of this many bytes.
inline constexpr std::size_t scratch_alignment = 64;

// Constants, not calls: a call that is not inlined (at -O0) is a weak symbol compiled for one architecture.
namespace detail {
inline constexpr float infinity = std::numeric_limits<float>::infinity();  // converted to the element type where used
inline constexpr std::int32_t sign_bit = std::numeric_limits<std::int32_t>::min();
}  // namespace detail

// xsimd's default may be AVX without FMA or AVX-512 without BW, for which no tile is tuned or tested.
#if XSIMD_WITH_AVX512BW
using default_arch = xsimd::avx512bw;
#elif XSIMD_WITH_FMA3_AVX2
using default_arch = xsimd::fma3<xsimd::avx2>;
#elif XSIMD_WITH_SSE4_2
using default_arch = xsimd::sse4_2;
#elif XSIMD_WITH_SSE2
using default_arch = xsimd::sse2;
#elif XSIMD_WITH_NEON64
using default_arch = xsimd::neon64;
#else
/// The best architecture that the compiler's flags allow.
using default_arch = xsimd::default_arch;
#endif

/// The architecture of the same instructions for elements of double.
template <class Instructions>
struct in_double {};

namespace detail {
template <class Arch>
struct elements_of {
  using instructions = Arch;
  using number = float;
  using integer = std::int32_t;
};
template <class Instructions>
struct elements_of<in_double<Instructions>> {
  using instructions = Instructions;
  using number = double;
  using integer = std::int64_t;
};
template <class Batch>
struct arch_of_batch;
template <class Instructions>
struct arch_of_batch<xsimd::batch<float, Instructions>> {
  using type = Instructions;
};
template <class Instructions>
struct arch_of_batch<xsimd::batch<double, Instructions>> {
  using type = in_double<Instructions>;
};
}  // namespace detail

/// The instruction set of an architecture, a tag of xsimd.
template <class Arch>
using instructions = typename detail::elements_of<Arch>::instructions;
/// The element type of an architecture.
template <class Arch>
using element_of = typename detail::elements_of<Arch>::number;
/// The integer type of the same width.
template <class Arch>
using integer_of = typename detail::elements_of<Arch>::integer;
/// The architecture of a register.
template <class Batch>
using arch_of = typename detail::arch_of_batch<Batch>::type;

template <class T, class Arch>
using batch = xsimd::batch<T, Arch>;
/// A register of elements: floats, or doubles for `in_double`.
template <class Arch>
using floats = xsimd::batch<element_of<Arch>, instructions<Arch>>;
/// Integers of the same width.
template <class Arch>
using ints = xsimd::batch<integer_of<Arch>, instructions<Arch>>;
/// One boolean per lane.
template <class Arch>
using mask = xsimd::batch_bool<element_of<Arch>, instructions<Arch>>;

/// The number of elements in a register.
template <class Arch>
inline constexpr std::size_t lanes = floats<Arch>::size;
/// The bytes of a register.
template <class Arch>
inline constexpr std::size_t register_bytes = lanes<Arch> * sizeof(element_of<Arch>);

template <class Arch>
inline constexpr bool in_doubles = std::is_same_v<element_of<Arch>, double>;
template <class Arch>
inline constexpr bool is_avx512 = std::is_base_of_v<xsimd::avx512f, instructions<Arch>>;
template <class Arch>
inline constexpr bool is_avx2 = std::is_base_of_v<xsimd::avx2, instructions<Arch>>;
template <class Arch>
inline constexpr bool is_neon64 = std::is_base_of_v<xsimd::neon64, instructions<Arch>>;
/// Whether a multiply-add rounds once (SSE rounds twice).
template <class Arch>
inline constexpr bool has_fma =
    is_avx512<Arch> || is_neon64<Arch> || std::is_same_v<instructions<Arch>, xsimd::fma3<xsimd::avx2>>;

// ---------------------------------------------------------------- loads and stores

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

// ---------------------------------------------------------------- tails

namespace detail {

/// The raw register type, which the compilers' shuffles take.
template <class Arch>
using raw_floats = typename floats<Arch>::register_type;

// Both compilers turn these index lists into optimal permutes; xsimd 8.1 only has zip_lo and zip_hi, which work inside
// 128-bit lanes on AVX-512 but across the register elsewhere.
template <class Arch, std::size_t... Index>
[[nodiscard, gnu::always_inline]] inline floats<Arch> shuffle(const floats<Arch>& a, const floats<Arch>& b,
                                                              std::index_sequence<Index...>) noexcept {
#if defined(__GNUC__)
  return floats<Arch>(
      static_cast<raw_floats<Arch>>(__builtin_shufflevector(a.data, b.data, static_cast<int>(Index)...)));
#else
  alignas(64) element_of<Arch> from[2 * lanes<Arch>];
  alignas(64) element_of<Arch> to[lanes<Arch>] = {};
  a.store_aligned(&from[0]);
  b.store_aligned(&from[lanes<Arch>]);
  std::size_t at = 0;
  ((to[at++] = from[Index]), ...);
  return floats<Arch>::load_aligned(&to[0]);
#endif
}

// Lane i takes lane i ^ Distance.
template <class Arch, std::size_t Distance, std::size_t... Lane>
[[nodiscard, gnu::always_inline]] inline floats<Arch> swap_lanes(const floats<Arch>& a,
                                                                 std::index_sequence<Lane...>) noexcept {
  return shuffle<Arch>(a, a, std::index_sequence<(Lane ^ Distance)...>{});
}

template <class Arch, std::size_t Distance = lanes<Arch> / 2, class Combine>
[[nodiscard, gnu::always_inline]] inline floats<Arch> fold(const floats<Arch>& a, Combine combine) noexcept {
  const floats<Arch> once = combine(a, swap_lanes<Arch, Distance>(a, std::make_index_sequence<lanes<Arch>>{}));
  if constexpr (Distance > 1) return fold<Arch, Distance / 2>(once, combine);
  else return once;
}

}  // namespace detail

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

// ---------------------------------------------------------------- folds and transposes

/// The sum of all lanes, as a balanced tree with the same order on every compiler.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline element_of<Arch> reduce_sum(const floats<Arch>& value) noexcept {
  return detail::fold<Arch>(value, [](const auto& a, const auto& b) { return a + b; }).get(0);
}

/// The maximum of the lanes; NaN if any lane is NaN.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline element_of<Arch> reduce_max(const floats<Arch>& value) noexcept {
  return detail::fold<Arch>(value, [](const auto& a, const auto& b) { return max_or_nan<Arch>(a, b); }).get(0);
}

/// The maximum of the lanes, ignoring NaN; -inf if every lane is NaN.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline element_of<Arch> reduce_max_skip_nan(const floats<Arch>& value) noexcept {
  const floats<Arch> number = max_skip_nan<Arch>(value, broadcast<Arch>(-detail::infinity));
  return detail::fold<Arch>(number, [](const auto& a, const auto& b) { return max_skip_nan<Arch>(a, b); }).get(0);
}

namespace detail {

// One butterfly of the transpose: rows a and a + Distance exchange their off-diagonal blocks of Distance lanes.
template <class Arch, std::size_t Distance, std::size_t... Lane>
[[gnu::always_inline]] inline void transpose_pair(floats<Arch>& a, floats<Arch>& b,
                                                  std::index_sequence<Lane...>) noexcept {
  constexpr std::size_t n = lanes<Arch>;
  const floats<Arch> low =
      shuffle<Arch>(a, b, std::index_sequence<((Lane & Distance) != 0 ? n + (Lane ^ Distance) : Lane)...>{});
  b = shuffle<Arch>(a, b, std::index_sequence<((Lane & Distance) != 0 ? n + Lane : (Lane ^ Distance))...>{});
  a = low;
}

template <class Arch, std::size_t Distance>
[[gnu::always_inline]] inline void transpose_step(floats<Arch>* rows) noexcept {
  for (std::size_t i = 0; i < lanes<Arch>; ++i) {
    if ((i & Distance) == 0) {
      transpose_pair<Arch, Distance>(rows[i], rows[i + Distance], std::make_index_sequence<lanes<Arch>>{});
    }
  }
  if constexpr (Distance > 1) transpose_step<Arch, Distance / 2>(rows);
}

// Sums of `Count` vectors (a power of two), by the same butterflies with an addition after each.
template <class Arch, std::size_t Count, std::size_t Distance>
[[gnu::always_inline]] inline void sum_step(floats<Arch>* rows) noexcept {
  using all = std::make_index_sequence<lanes<Arch>>;
#pragma GCC unroll 16
  for (std::size_t i = 0; i < (Count > Distance ? Distance : Count); ++i) {
    if constexpr (Count > Distance) {
      transpose_pair<Arch, Distance>(rows[i], rows[i + Distance], all{});
      rows[i] = rows[i] + rows[i + Distance];
    } else {
      rows[i] = rows[i] + swap_lanes<Arch, Distance>(rows[i], all{});
    }
  }
  if constexpr (Distance > 1) sum_step<Arch, (Count > Distance ? Distance : Count), Distance / 2>(rows);
}

}  // namespace detail

/// The sum over the lanes of each of `Count` vectors: lane i has the sum of rows[i % Count]. `Count` is a power of two,
/// at most the number of lanes. Overwrites `rows`.
template <class Arch, std::size_t Count>
[[nodiscard, gnu::always_inline]] inline floats<Arch> sum_rows(floats<Arch> (&rows)[Count]) noexcept {
  static_assert(Count <= lanes<Arch> && (Count & (Count - 1)) == 0);
  detail::sum_step<Arch, Count, lanes<Arch> / 2>(&rows[0]);
  return rows[0];
}

/// Transposes the square of `lanes` rows in place: lane j of row i becomes lane i of row j, across the whole register.
template <class Arch>
[[gnu::always_inline]] inline void transpose(floats<Arch> (&rows)[lanes<Arch>]) noexcept {
  detail::transpose_step<Arch, lanes<Arch> / 2>(&rows[0]);
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
