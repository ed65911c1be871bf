// dimwise/kernels/simd.hpp -- the wrapper of xsimd: batches, fma, tails, reductions, transposes.
//
// Layer: kernels. Includes the headers of simd/.
// Tests: tests/kernels/simd.test.cpp
//
// An architecture is an instruction set and an element type: a tag of xsimd computes in float, `in_double<tag>` in
// double. All functions are templates over it, so that code compiled with AVX-512 flags has AVX-512 in its
// symbol, and the linker cannot use it in a baseline program.
//
//   floats<Arch> x = load<Arch>(p);
//   x = fma(x, y, z);                              // one rounding if the machine has fma
//   store_partial<Arch>(p, count, x);              // does not write p[count]
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/simd/across_lanes.hpp>
#include <dimwise/kernels/simd/architecture.hpp>
#include <dimwise/kernels/simd/lanewise.hpp>
#include <dimwise/kernels/simd/partial.hpp>
