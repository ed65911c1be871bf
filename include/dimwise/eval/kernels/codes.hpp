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

template <class F>
inline constexpr std::optional<kernels::operation> operation_code;
template <>
inline constexpr std::optional<kernels::operation> operation_code<fn::add> = kernels::operation::add;
template <>
inline constexpr std::optional<kernels::operation> operation_code<fn::subtract> = kernels::operation::subtract;
template <>
inline constexpr std::optional<kernels::operation> operation_code<fn::multiply> = kernels::operation::multiply;
template <>
inline constexpr std::optional<kernels::operation> operation_code<fn::divide> = kernels::operation::divide;
template <>
inline constexpr std::optional<kernels::operation> operation_code<fn::sent<fn::multiply>> =
    kernels::operation::send_times;
template <>
inline constexpr std::optional<kernels::operation> operation_code<fn::sent<fn::divide>> =
    kernels::operation::send_divided;
template <>
inline constexpr std::optional<kernels::operation> operation_code<fn::larger> = kernels::operation::max;
template <>
inline constexpr std::optional<kernels::operation> operation_code<fn::smaller> = kernels::operation::min;

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

template <class How>
inline constexpr std::optional<kernels::total> total_code;
template <>
inline constexpr std::optional<kernels::total> total_code<totals::sum> = kernels::total::sum;
template <>
inline constexpr std::optional<kernels::total> total_code<totals::mean> = kernels::total::sum;
template <>
inline constexpr std::optional<kernels::total> total_code<totals::max> = kernels::total::max;
template <>
inline constexpr std::optional<kernels::total> total_code<totals::min> = kernels::total::min;
template <>
inline constexpr std::optional<kernels::total> total_code<totals::norm> = kernels::total::norm;

}  // namespace dimwise::detail
