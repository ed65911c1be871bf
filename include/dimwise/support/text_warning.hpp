// SPDX-License-Identifier: BSL-1.0
// dimwise/support/text_warning.hpp -- between these words g++ 12 does not warn about texts that are put together.
//
// Layer: support. g++ 12 takes `"a" + text` for copies that overlap, where it inlines: GCC's bug 105651. A user who
// compiles with -O2 -Wall should not read of it.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12
#define DIMWISE_DETAIL_TEXT_BEGIN \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wrestrict\"") static_assert(true)
#define DIMWISE_DETAIL_TEXT_END _Pragma("GCC diagnostic pop") static_assert(true)
#else
#define DIMWISE_DETAIL_TEXT_BEGIN static_assert(true)
#define DIMWISE_DETAIL_TEXT_END static_assert(true)
#endif
