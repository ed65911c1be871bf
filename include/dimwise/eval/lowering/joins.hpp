// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/lowering/joins.hpp -- concat and stack: each operand is computed at its place in the result.
//
// Layer: eval.
// Tests: tests/expr/rearrange/join.test.cpp
#pragma once

#include <dimwise/eval/pass.hpp>
#include <dimwise/expr/rearrange/join.hpp>
#include <dimwise/expr/rearrange/replace.hpp>

namespace dimwise::detail {

// Where a part of a sum is written: how far from the first element of the whole; `destination` is given its axes.
template <class D, class Whole, class ResultAxes, class X>
std::ptrdiff_t place_of_part(const X& x, const axis* to, extent_t before, axis* destination) {
  constexpr std::size_t at = index_in<Whole, ResultAxes>;
  using part_axes = typename axes_of<D>::type;
  using axes = replace_t<ResultAxes, Whole, part_axes>;
  axis sizes[max_rank];
  axis_extents<axes>::write(x.extents(), sizes);
  axis all[max_rank];
  for (std::size_t i = 0; i < at; ++i) { all[i] = to[i]; }
  std::ptrdiff_t stride = to[at].stride;
  for (std::size_t i = at + part_axes::size; i-- > at;) {
    all[i] = {sizes[i].extent, stride};
    stride = times(stride, sizes[i].extent);
  }
  for (std::size_t i = at + 1; i < ResultAxes::size; ++i) { all[i + part_axes::size - 1] = to[i]; }
  std::ptrdiff_t strides[max_rank] = {};
  using own = axes_for<shape_of<X>>;
  align<own, axes>(all, strides);
  axis_extents<own>::write(x.extents(), destination);
  for (std::size_t i = 0; i < own::size; ++i) { destination[i].stride = strides[i]; }
  return times(to[at].stride, before);
}

template <class Shape, class X>
std::ptrdiff_t place_of_layer(const X& x, const axis* to, std::size_t number, axis* destination) {
  using own = axes_for<shape_of<X>>;
  std::ptrdiff_t strides[max_rank] = {};
  align<own, axes_for<Shape>>(to, strides);
  axis_extents<own>::write(x.extents(), destination);
  for (std::size_t i = 0; i < own::size; ++i) { destination[i].stride = strides[i]; }
  return times(to[0].stride, number);
}

// A child written at an offset: in a plan there is no memory to add it to.
template <class C, class Pass, class X, class T>
void write_at(Pass& pass, const X& x, target<T> to, std::ptrdiff_t offset, const axis* axes) {
  write<C>(pass, x, target<T>{Pass::computes ? to.data + offset : nullptr, axes});
}

template <class C, class Pass, class Shape, class U, class Whole, class Parts, class... X, class T>
void place_children(Pass& pass, const node<join_along<Whole, Parts>, Shape, U, X...>& n, target<T> to) {
  extent_t before = 0;
  axis at[max_rank];
  each_operand(Parts{}, n, [&]<class Part>(const auto& x, std::type_identity<Part>) {
    const std::ptrdiff_t offset = place_of_part<Part, Whole, axes_for<Shape>>(x, to.axes, before, at);
    write_at<C>(pass, x, to, offset, at);
    before += x.extents().template extent<Part>();
  });
}
template <class C, class Pass, class Shape, class U, class D, class... X, class T>
void place_children(Pass& pass, const node<stack_along<D>, Shape, U, X...>& n, target<T> to) {
  std::size_t number = 0;
  axis at[max_rank];
  each_operand(list<X...>{}, n, [&](const auto& x, auto) {
    const std::ptrdiff_t offset = place_of_layer<Shape>(x, to.axes, number++, at);
    write_at<C>(pass, x, to, offset, at);
  });
}
template <class C, class Pass, class Shape, class U, class D, class X, class New, class T>
void place_children(Pass& pass, const node<replace_along<D>, Shape, U, X, New>& n, target<T> to) {
  write_at<C>(pass, n.template child<0>(), to, 0, to.axes);
  axis at[max_rank];
  (void)place_of_layer<Shape>(n.template child<1>(), to.axes, 0, at);
  const std::ptrdiff_t offset = times(to.axes[index_in<D, axes_for<Shape>>].stride, n.op().first);
  write_at<C>(pass, n.template child<1>(), to, offset, at);
}

// Nodes whose children are computed in place.
template <class N>
inline constexpr bool is_join = false;
template <class Whole, class Parts, class Shape, class T, class... X>
inline constexpr bool is_join<node<join_along<Whole, Parts>, Shape, T, X...>> = true;
template <class D, class Shape, class T, class... X>
inline constexpr bool is_join<node<stack_along<D>, Shape, T, X...>> = true;
template <class D, class Shape, class T, class X, class New>
inline constexpr bool is_join<node<replace_along<D>, Shape, T, X, New>> = true;

}  // namespace dimwise::detail
