// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/fast_elements.hpp -- the map plan: functions and arithmetic of elements that lie contiguous in memory.
//
// Layer: eval.
// Tests: tests/eval/plan.test.cpp
#pragma once

#include <dimwise/eval/execution.hpp>
#include <dimwise/eval/plain.hpp>

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

template <class F>
inline constexpr bool has_operation = false;
template <class F>
inline constexpr auto operation_code = kernels::operation::add;
template <>
inline constexpr bool has_operation<fn::add> = true;
template <>
inline constexpr bool has_operation<fn::subtract> = true;
template <>
inline constexpr auto operation_code<fn::subtract> = kernels::operation::subtract;
template <>
inline constexpr bool has_operation<fn::multiply> = true;
template <>
inline constexpr auto operation_code<fn::multiply> = kernels::operation::multiply;
template <>
inline constexpr bool has_operation<fn::divide> = true;
template <>
inline constexpr auto operation_code<fn::divide> = kernels::operation::divide;

// A kernel's own overhead is worth a dozen elements.
inline constexpr std::size_t least_row = 16;

inline bool few_elements(const axis* axes, std::size_t rank) {
  std::size_t n = 1;
  for (std::size_t i = 0; i < rank; ++i) { n *= axes[i].extent; }
  return n < least_row;
}

// One function of one operand; false where the innermost axes are not contiguous.
template <class Shape, class X>
bool map_by_kernel(kernels::function f, const extents_for<Shape>& extents, const lowered<float>& x, target<float> to) {
  using axes = axes_for<Shape>;
  axis result[max_rank];
  axis_extents<axes>::write(extents, result);
  if (few_elements(result, axes::size)) { return false; }
  std::ptrdiff_t strides[2][max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  align<axes, axes_for<shape_of<X>>>(x.axes, strides[1]);
  const auto nest = nest_over(axes::size, result, strides);
  if (nest.empty()) { return true; }
  const std::size_t in = nest.rank == 0 ? 0 : nest.rank - 1;
  if (nest.rank == 0 || nest.extent[in] < least_row || nest.stride[0][in] != 1 || nest.stride[1][in] != 1) { return false; }
  const kernels::table& table = kernels::active();
  count_plan(plan_kind::map);
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&)[2]) {
    in_parts(n, part_elements, [&](std::size_t begin, std::size_t end) { table.map(f, end - begin, x.data + o[1] + begin, to.data + o[0] + begin); });
  });
  return true;
}

// The same of a result in its own memory, whatever its strides.
template <class Axes>
void map_in_place(kernels::function f, const axis* extents, target<float> to) {
  std::ptrdiff_t strides[1][max_rank] = {};
  for (std::size_t i = 0; i < Axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  const kernels::table& table = kernels::active();
  kernels::for_each_row(nest_over(Axes::size, extents, strides), [&](const std::ptrdiff_t(&o)[1], std::size_t n, const std::ptrdiff_t(&s)[1]) {
    float* const x = to.data + o[0];
    if (s[0] == 1) { return table.map(f, n, x, x); }
    for (std::size_t i = 0; i < n; ++i) { table.map(f, 1, x + static_cast<std::ptrdiff_t>(i) * s[0], x + static_cast<std::ptrdiff_t>(i) * s[0]); }
  });
}

// Arithmetic of two operands, either of which may be the same number along the innermost axes.
template <class Shape, class A, class B>
bool zip_by_kernel(kernels::operation f, const extents_for<Shape>& extents, const lowered<float>& a, const lowered<float>& b, target<float> to) {
  using axes = axes_for<Shape>;
  axis result[max_rank];
  axis_extents<axes>::write(extents, result);
  if (few_elements(result, axes::size)) { return false; }
  std::ptrdiff_t strides[3][max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  align<axes, axes_for<shape_of<A>>>(a.axes, strides[1]);
  align<axes, axes_for<shape_of<B>>>(b.axes, strides[2]);
  const auto nest = nest_over(axes::size, result, strides);
  if (nest.empty()) { return true; }
  const std::size_t in = nest.rank == 0 ? 0 : nest.rank - 1;
  const auto contiguous = [](std::ptrdiff_t s) { return s == 0 || s == 1; };
  if (nest.rank == 0 || nest.extent[in] < least_row || nest.stride[0][in] != 1 || !contiguous(nest.stride[1][in]) || !contiguous(nest.stride[2][in])) {
    return false;
  }
  const kernels::table& table = kernels::active();
  count_plan(plan_kind::map);
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[3], std::size_t n, const std::ptrdiff_t(&s)[3]) {
    in_parts(n, part_elements, [&](std::size_t begin, std::size_t end) {
      const auto at = static_cast<std::ptrdiff_t>(begin);
      table.zip(f, end - begin, a.data + o[1] + at * s[1], s[1], b.data + o[2] + at * s[2], s[2], to.data + o[0] + at);
    });
  });
  return true;
}

}  // namespace dimwise::detail
