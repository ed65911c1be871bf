// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/simd/architecture.hpp -- architectures: an instruction set and an element type, and their registers.
//
// Layer: kernels. Includes: xsimd and light standard headers only; no other header includes xsimd.
// Tests: tests/kernels/simd.test.cpp
//
//   floats<xsimd::avx512bw> x;               // 16 floats
//   floats<in_double<xsimd::avx512bw>> y;    // 8 doubles
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>

#include <xsimd/xsimd.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

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

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
