// tests/support/threads.hpp -- the suite of the test cases that start threads, which the preset `threads` runs with the
// thread sanitizer. tests/structure/sources.py finds a test case that starts threads and is not in it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <doctest/doctest.h>

namespace support {

/// TEST_CASE("what holds" * support::threads) { … }
inline const doctest::test_suite threads("threads");

}  // namespace support
