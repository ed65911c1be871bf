// SPDX-License-Identifier: BSL-1.0
// dimwise/support/text_warning.hpp -- suppresses a false g++ 12 warning about string concatenation.
//
// Layer: support. g++ 12 reports `"a" + text` as overlapping copies if it is inlined: GCC's bug 105651. Users who
// compile with -O2 -Wall should not see it.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12
#define DIMWISE_DETAIL_TEXT_BEGIN \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wrestrict\"") static_assert(true)
#define DIMWISE_DETAIL_TEXT_END _Pragma("GCC diagnostic pop") static_assert(true)
#else
#define DIMWISE_DETAIL_TEXT_BEGIN static_assert(true)
#define DIMWISE_DETAIL_TEXT_END static_assert(true)
#endif
