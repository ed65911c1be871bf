// SPDX-License-Identifier: BSL-1.0
// dimwise/support/compiler.hpp -- options of the compiler that give wrong results or no program: an error each.
//
// Layer: support. Includes: nothing.
// Tests: tests/options/compiler_options.py
#pragma once

// Masks are −∞ until their softmax, and hidden weights are −0: neither exists with these options.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0) || \
    defined(__NO_SIGNED_ZEROS__) || defined(__ASSOCIATIVE_MATH__)
#error "dimwise: compile without -ffast-math and the options in it: masks need infinities, and hidden weights are -0"
#endif

// What only the run knows is checked by the run, and thrown. The missing header ends the compilation: without it, each
// throw in the library is an error, too.
#if !defined(__cpp_exceptions)
#error "dimwise: compile without -fno-exceptions: wrong extents, ids and files are thrown"
#include <the_compilation_ends_here>
#endif
