// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/codes.hpp -- what a function, an operation, a comparison and a total are called in the table of
// kernels.
//
// Layer: eval.
// Tests: tests/eval/plan/plan.test.cpp, tests/eval/plan/operations.test.cpp
#pragma once

#include <dimwise/expr/elements/derivative.hpp>
#include <dimwise/expr/elements/elementwise.hpp>
#include <dimwise/expr/rows/reduce.hpp>
#include <dimwise/kernels/dispatch/table.hpp>

#include <cstddef>
#include <optional>

namespace dimwise::detail {

template <class F>
inline constexpr auto function_code = kernels::function::none;
#define DIMWISE_DETAIL_CODE(word) \
  template <>                     \
  inline constexpr auto function_code<fn::word> = kernels::function::word;
DIMWISE_DETAIL_FUNCTIONS(DIMWISE_DETAIL_CODE)
#undef DIMWISE_DETAIL_CODE

#define DIMWISE_DETAIL_CODE(what, code, ...) \
  template <>                                \
  inline constexpr std::optional<kernels::what> what##_code<__VA_ARGS__> = kernels::what::code;
template <class F>
inline constexpr std::optional<kernels::operation> operation_code;
DIMWISE_DETAIL_CODE(operation, add, fn::add)
DIMWISE_DETAIL_CODE(operation, subtract, fn::subtract)
DIMWISE_DETAIL_CODE(operation, multiply, fn::multiply)
DIMWISE_DETAIL_CODE(operation, divide, fn::divide)
DIMWISE_DETAIL_CODE(operation, send_times, fn::sent<fn::multiply>)
DIMWISE_DETAIL_CODE(operation, send_divided, fn::sent<fn::divide>)
DIMWISE_DETAIL_CODE(operation, max, fn::larger)
DIMWISE_DETAIL_CODE(operation, min, fn::smaller)
template <class How>
inline constexpr std::optional<kernels::total> total_code;
DIMWISE_DETAIL_CODE(total, sum, totals::sum)
DIMWISE_DETAIL_CODE(total, sum, totals::mean)
DIMWISE_DETAIL_CODE(total, max, totals::max)
DIMWISE_DETAIL_CODE(total, min, totals::min)
DIMWISE_DETAIL_CODE(total, norm, totals::norm)
#undef DIMWISE_DETAIL_CODE

// Comparisons, the greater ones with their operands exchanged.
template <class F>
struct relation_of {
  static constexpr bool known = false;
};
template <kernels::relation R, bool Exchanged>
struct relation_is {
  static constexpr bool known = true;
  static constexpr auto code = R;
  static constexpr std::size_t first = Exchanged ? 1 : 0;
};
template <>
struct relation_of<fn::less> : relation_is<kernels::relation::less, false> {};
template <>
struct relation_of<fn::less_equal> : relation_is<kernels::relation::less_equal, false> {};
template <>
struct relation_of<fn::greater> : relation_is<kernels::relation::less, true> {};
template <>
struct relation_of<fn::greater_equal> : relation_is<kernels::relation::less_equal, true> {};
template <>
struct relation_of<fn::equal> : relation_is<kernels::relation::equal, false> {};
template <>
struct relation_of<fn::not_equal> : relation_is<kernels::relation::not_equal, false> {};

}  // namespace dimwise::detail
