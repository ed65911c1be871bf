// dimwise/version.hpp -- the library's version, written here and nowhere else: CMake reads this file.
//
// Layer: none; every layer may include it.
// Tests: tests/consumer
//
//   static_assert(DIMWISE_VERSION_MAJOR == 0);
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The version of these headers, MAJOR.MINOR.PATCH.
#define DIMWISE_VERSION_MAJOR 0
#define DIMWISE_VERSION_MINOR 1
#define DIMWISE_VERSION_PATCH 0
