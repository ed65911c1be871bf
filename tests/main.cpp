// tests/main.cpp -- the entry point of every doctest executable; tests/CMakeLists.txt links it to each.
// SPDX-License-Identifier: BSL-1.0
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
