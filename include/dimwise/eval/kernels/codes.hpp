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
template <>
inline constexpr auto function_code<fn::relu> = kernels::function::relu;
template <>
inline constexpr auto function_code<fn::gelu> = kernels::function::gelu;
template <>
inline constexpr auto function_code<fn::gelu_tanh> = kernels::function::gelu_tanh;
template <>
inline constexpr auto function_code<fn::silu> = kernels::function::silu;
template <>
inline constexpr auto function_code<fn::sigmoid> = kernels::function::sigmoid;
template <>
inline constexpr auto function_code<fn::tanh> = kernels::function::tanh;
template <>
inline constexpr auto function_code<fn::exp> = kernels::function::exp;
template <>
inline constexpr auto function_code<fn::log> = kernels::function::log;
template <>
inline constexpr auto function_code<fn::erf> = kernels::function::erf;
template <>
inline constexpr auto function_code<fn::sqrt> = kernels::function::sqrt;
template <>
inline constexpr auto function_code<fn::abs> = kernels::function::abs;
template <>
inline constexpr auto function_code<fn::square> = kernels::function::square;
template <>
inline constexpr auto function_code<fn::sin> = kernels::function::sin;
template <>
inline constexpr auto function_code<fn::cos> = kernels::function::cos;
template <>
inline constexpr auto function_code<fn::softplus> = kernels::function::softplus;
template <>
inline constexpr auto function_code<fn::negate> = kernels::function::negate;

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
