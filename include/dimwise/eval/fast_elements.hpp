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
inline constexpr auto function_code<fn::negate> = kernels::function::negate;

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
template <>
inline constexpr bool has_operation<fn::larger> = true;
template <>
inline constexpr auto operation_code<fn::larger> = kernels::operation::max;
template <>
inline constexpr bool has_operation<fn::smaller> = true;
template <>
inline constexpr auto operation_code<fn::smaller> = kernels::operation::min;

// A kernel's own overhead is worth a dozen elements.
inline constexpr std::size_t least_row = 16;

// The nodes that these kernels compute, by their types: a function of one operand, arithmetic of two.
template <class N>
inline constexpr bool is_map = false;
template <class Shape, class T, class F, class X>
inline constexpr bool is_map<elementwise<Shape, T, F, X>> = function_code<F> != kernels::function::none;
template <class N>
inline constexpr bool is_zip = false;
template <class Shape, class T, class F, class A, class B>
inline constexpr bool is_zip<elementwise<Shape, T, F, A, B>> = has_operation<F> && !is_masked<A> && !is_masked<B>;

// A power by a number: the square is a kernel's.
template <class N>
inline constexpr bool is_number_power = false;
template <class Shape, class X, class U>
inline constexpr bool is_number_power<elementwise<Shape, float, fn::pow, X, constant<U>>> =
    std::is_same_v<value_of<X>, float>;
template <class N>
bool is_square(const N& n) {
  return n.template child<1>().op().value == 2;
}

// The loops over a result with the axes `to` and its operands in `nest`; false where no kernel takes them: few elements, or
// innermost ones that are not contiguous. One of several operands may be the same number for all of those; bools have any step.
template <class Shape, class... X, class... Layout>
bool elements_fit(const extents_for<Shape>& extents, const axis* to, kernels::loop_nest<1 + sizeof...(X)>& nest,
                  const Layout&... x) {
  using axes = axes_for<Shape>;
  axis result[max_rank];
  axis_extents<axes>::write(extents, result);
  std::size_t elements = 1;
  for (std::size_t i = 0; i < axes::size; ++i) { elements = saturating_product(elements, result[i].extent); }
  if (elements < least_row) { return false; }
  std::ptrdiff_t strides[1 + sizeof...(X)][max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = to[i].stride; }
  std::size_t k = 0;
  (align<axes, axes_for<shape_of<X>>>(x.axes, strides[++k]), ...);
  nest = nest_over(axes::size, result, strides);
  const std::size_t in = nest.rank - 1;
  if (nest.extent[in] < least_row || nest.stride[0][in] != 1) { return false; }
  constexpr bool any_step[] = {std::is_same_v<value_of<X>, bool>...};
  for (k = 1; k <= sizeof...(X); ++k) {
    const bool same = sizeof...(X) >= 2 && nest.stride[k][in] == 0;
    if (nest.stride[k][in] != 1 && !same && !any_step[k - 1]) { return false; }
  }
  return true;
}

// One function of one operand; false where no kernel takes it.
template <class Shape, class X>
bool map_by_kernel(kernels::function f, const extents_for<Shape>& extents, const lowered<float>& x, target<float> to) {
  kernels::loop_nest<2> nest;
  if (!elements_fit<Shape, X>(extents, to.axes, nest, x)) { return false; }
  const kernels::table& table = kernels::active();
  count_plan(plan_kind::map);
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&)[2]) {
    in_parts(n, part_elements, [&](std::size_t begin, std::size_t end) {
      table.map(f, end - begin, x.data + o[1] + begin, to.data + o[0] + begin);
    });
  });
  return true;
}

// The same of a result in its own memory, whatever its strides.
template <class Axes>
void map_in_place(kernels::function f, const axis* extents, target<float> to) {
  std::ptrdiff_t strides[1][max_rank] = {};
  for (std::size_t i = 0; i < Axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  const kernels::table& table = kernels::active();
  kernels::for_each_row(nest_over(Axes::size, extents, strides),
                        [&](const std::ptrdiff_t(&o)[1], std::size_t n, const std::ptrdiff_t(&s)[1]) {
    float* const x = to.data + o[0];
    if (s[0] == 1) { return table.map(f, n, x, x); }
    for (std::size_t i = 0; i < n; ++i) {
      table.map(f, 1, x + static_cast<std::ptrdiff_t>(i) * s[0], x + static_cast<std::ptrdiff_t>(i) * s[0]);
    }
  });
}

// Arithmetic of two operands; false where no kernel takes it.
template <class Shape, class A, class B>
bool zip_by_kernel(kernels::operation f, const extents_for<Shape>& extents, const lowered<float>& a,
                   const lowered<float>& b, target<float> to) {
  kernels::loop_nest<3> nest;
  if (!elements_fit<Shape, A, B>(extents, to.axes, nest, a, b)) { return false; }
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
