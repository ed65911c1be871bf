// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/dispatch/configuration.hpp -- the macro that names the kernel configuration of a file.
//
// Layer: kernels. Includes: the macros of programs with one implementation file.
//   DIMWISE_PLAIN_ONLY         plain_only: no kernels, only the reference evaluator
//   DIMWISE_COMPILED_KERNELS   compiled: the kernels of the library that the target dimwise::dimwise links
//   neither                    header_only_…: the kernels in the headers, for the instructions that the flags allow
// The files of the library have their own names: library_… (src/CMakeLists.txt).
//
// Code that differs between configurations is declared in an inline namespace of this name:
//
//   namespace dimwise::kernels::inline DIMWISE_CONFIGURATION { … }
//
// Callers do not write the name, but symbols contain it, so that a linker never replaces a function of one
// configuration by that of another. Types that the compiled library and its callers share (table.hpp,
// attention/layout.hpp, executor.hpp) are outside.
// Tests: tests/odr/mixed.py. Decision: docs/decisions/0010
#pragma once

#if defined(DIMWISE_IMPLEMENTATION) || defined(DIMWISE_SEPARATE_IMPLEMENTATION)
#include <dimwise/support/implementation.hpp>
#endif
#if defined(DIMWISE_CONFIGURATION)
// a file of the library
#elif defined(DIMWISE_PLAIN_ONLY)
#define DIMWISE_CONFIGURATION plain_only
#elif defined(DIMWISE_COMPILED_KERNELS)
#define DIMWISE_CONFIGURATION compiled
#elif defined(__AVX512BW__)
#define DIMWISE_CONFIGURATION header_only_avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define DIMWISE_CONFIGURATION header_only_avx2
#elif defined(__AVX__)
#define DIMWISE_CONFIGURATION header_only_avx
#elif defined(__SSE4_2__)
#define DIMWISE_CONFIGURATION header_only_sse4
#elif defined(__SSE2__)
#define DIMWISE_CONFIGURATION header_only_sse2
#elif defined(__ARM_NEON)
#define DIMWISE_CONFIGURATION header_only_neon
#else
#define DIMWISE_CONFIGURATION header_only
#endif
