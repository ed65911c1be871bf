// SPDX-License-Identifier: BSL-1.0
// dimwise/support/compiler.hpp -- rejects compiler options under which the library gives wrong results or cannot work.
//
// Layer: support. Includes: nothing.
// Tests: tests/options/compiler_options.py
#pragma once

// Masked scores are −∞ until softmax, and hidden weights are −0: -ffast-math removes both.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0) || \
    defined(__NO_SIGNED_ZEROS__) || defined(__ASSOCIATIVE_MATH__)
#error "dimwise: compile without -ffast-math and the options in it: masks need infinities, and hidden weights are -0"
#endif

// Run-time mistakes throw. The missing header ends the compilation: without it, each throw in the library would be
// another error.
#if !defined(__cpp_exceptions)
#error "dimwise: compile without -fno-exceptions: wrong extents, ids and files are thrown"
#include <the_compilation_ends_here>
#endif
