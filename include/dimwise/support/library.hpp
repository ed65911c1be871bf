// SPDX-License-Identifier: BSL-1.0
// dimwise/support/library.hpp -- functions that are the same in all programs: compiled once, with the kernels, or in
// each file.
//
// Layer: support.
// `X.hpp` declares functions that are no templates as DIMWISE_DETAIL_LIBRARY, `X_definitions.hpp` defines them, and
// `X.hpp` ends with
//
//   #if DIMWISE_DETAIL_DEFINES_LIBRARY
//   #include <dimwise/…/X_definitions.hpp>
//   #endif
//
// Of a template, `DIMWISE_DETAIL_LIBRARY_TEMPLATE void f<float>(…);` names what the library has.
// A program that links the target dimwise::dimwise reads declarations alone; src/library.cpp has the rest. That
// pays for code over strings and lists, for which a compiler instantiates the standard library, used or not, and
// for what every formula calls. What says which kernels a file uses (kernels/configuration.hpp) says where these
// functions are. With _GLIBCXX_DEBUG, which all files of a program have or none has, lists are others than the
// library's: then each file has these functions.
#pragma once

#include <dimwise/support/compiler.hpp>

#if defined(DIMWISE_COMPILED_KERNELS) && !defined(DIMWISE_PLAIN_ONLY) && !defined(_GLIBCXX_DEBUG)
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
