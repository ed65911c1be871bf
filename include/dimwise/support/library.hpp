// SPDX-License-Identifier: BSL-1.0
// dimwise/support/library.hpp -- macros for functions that are compiled once in the library, or in each file.
//
// Layer: support.
// `X.hpp` declares functions that are not templates as DIMWISE_DETAIL_LIBRARY, `X_definitions.hpp` defines them, and
// `X.hpp` ends with
//
//   #if DIMWISE_DETAIL_DEFINES_LIBRARY
//   #include <dimwise/…/X_definitions.hpp>
//   #endif
//
// `DIMWISE_DETAIL_LIBRARY_TEMPLATE void f<float>(…);` declares the instances of a template that the library contains.
// A program that links the target dimwise::dimwise sees declarations only; dimwise/implementation.hpp contains the
// definitions, which src/library.cpp compiles, or one file of a program (support/implementation.hpp).
// This saves compile time for code over strings and lists, for which a compiler instantiates the standard library
// even if unused, and for functions that every formula calls. The macros that select the kernels of a file
// (kernels/dispatch/configuration.hpp) also select these functions; a program of the scalar path (DIMWISE_PLAIN_ONLY)
// that links src/library.cpp defines DIMWISE_COMPILED_LIBRARY for both. With _GLIBCXX_DEBUG, which must be equal in
// all files of a program, containers differ from the library's: then each file has these functions.
#pragma once

#include <dimwise/support/compiler.hpp>
#include <dimwise/support/implementation.hpp>

#if (defined(DIMWISE_PLAIN_ONLY) ? defined(DIMWISE_COMPILED_LIBRARY) : defined(DIMWISE_COMPILED_KERNELS)) && \
    !defined(_GLIBCXX_DEBUG)
#define DIMWISE_DETAIL_HAS_LIBRARY 1
#define DIMWISE_DETAIL_LIBRARY
#else
#define DIMWISE_DETAIL_HAS_LIBRARY 0
#define DIMWISE_DETAIL_LIBRARY inline
#endif

#if DIMWISE_DETAIL_HAS_LIBRARY && !defined(DIMWISE_COMPILES_LIBRARY)
#define DIMWISE_DETAIL_DEFINES_LIBRARY 0
#define DIMWISE_DETAIL_LIBRARY_TEMPLATE extern template
#else
#define DIMWISE_DETAIL_DEFINES_LIBRARY 1
#define DIMWISE_DETAIL_LIBRARY_TEMPLATE template
#endif
