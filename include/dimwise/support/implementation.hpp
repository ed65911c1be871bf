// SPDX-License-Identifier: BSL-1.0
// dimwise/support/implementation.hpp -- the macros of a program without CMake that compiles the library in one file.
//
// Layer: support. Includes: nothing.
//   DIMWISE_SEPARATE_IMPLEMENTATION   in all files of a program: they see declarations only
//   DIMWISE_IMPLEMENTATION            in one of them, before the first include: this file compiles the functions and
// the
//                                     kernels, for the instructions that its flags allow; it implies the first macro
// The files are then compiled as those that link the target dimwise::dimwise (support/library.hpp).
// Tests: tests/odr/one_implementation.py
#pragma once

#if defined(DIMWISE_IMPLEMENTATION) && !defined(DIMWISE_COMPILES_LIBRARY)
#define DIMWISE_COMPILES_LIBRARY
#endif
#if defined(DIMWISE_IMPLEMENTATION) || defined(DIMWISE_SEPARATE_IMPLEMENTATION)
#if !defined(DIMWISE_COMPILED_KERNELS)
#define DIMWISE_COMPILED_KERNELS
#endif
#if !defined(DIMWISE_COMPILED_LIBRARY)
#define DIMWISE_COMPILED_LIBRARY  // of a program of the scalar path
#endif
#endif
