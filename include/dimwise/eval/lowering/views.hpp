// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/lowering/views.hpp -- what each view does to a layout: other names, another order, parts, windows.
//
// Layer: eval. `step` changes the axes of the operand to those of the view and the offset of the first element; no
// element is read.
// Tests: tests/expr/rearrange/restride.test.cpp, tests/expr/masks/window.test.cpp
#pragma once

#include <dimwise/eval/lowering/layout.hpp>
#include <dimwise/expr/rearrange/take.hpp>
#include <dimwise/expr/rearrange/window.hpp>

namespace dimwise::detail {

// Axes of the result from the operand's axes of the same name; a step has already changed those that it speaks of.
template <class ResultAxes, class OperandAxes, class Extents>
void carry_axes(const Extents& e, const axis* from, axis* to) {
  axis result[max_rank];
  axis_extents<ResultAxes>::write(e, result);
  std::ptrdiff_t strides[max_rank] = {};
  align<ResultAxes, OperandAxes>(from, strides);
  for (std::size_t i = 0; i < ResultAxes::size; ++i) { to[i] = {result[i].extent, strides[i]}; }
}

// Where `D`'s axes begin among the axes of some dimensions.
template <class D, class... Dims>
consteval std::size_t first_axis(list<Dims...>) {
  std::size_t at = 0;
  (void)((std::is_same_v<D, Dims> || (at += axes_of<Dims>::type::size, false)) || ...);
  return at;
}

template <class E, class Extents, class From, class To, class Result>
void step(operand_layout& x, const Extents& e, views::rename<From, To>, Result) {
  using from_dims = dims_t<shape_of<E>>;
  constexpr std::size_t first = first_axis<From>(from_dims{});
  constexpr std::size_t old_count = axes_of<From>::type::size;
  constexpr std::size_t new_count = axes_of<To>::type::size;
  const std::ptrdiff_t innermost = x.axes[first + old_count - 1].stride;
  axis result[max_rank];
  axis_extents<typename Result::axes>::write(e, result);
  constexpr std::size_t rank = axes_for<shape_of<E>>::size;
  axis old[max_rank];
  for (std::size_t i = 0; i < rank; ++i) { old[i] = x.axes[i]; }
  for (std::size_t i = 0; i < first; ++i) { x.axes[i] = old[i]; }
  std::ptrdiff_t stride = innermost;
  for (std::size_t i = first + new_count; i-- > first;) {
    x.axes[i] = {result[i].extent, stride};
    stride = times(stride, result[i].extent);
  }
  for (std::size_t i = first + old_count; i < rank; ++i) { x.axes[i + new_count - old_count] = old[i]; }
}

template <class E, class Extents, class Result>
void step(operand_layout& x, const Extents& e, views::regroup, Result) {
  axis result[max_rank];
  carry_axes<typename Result::axes, axes_for<shape_of<E>>>(e, x.axes, result);
  for (std::size_t i = 0; i < Result::axes::size; ++i) { x.axes[i] = result[i]; }
}
template <class E, class Extents, class Result>
void step(operand_layout&, const Extents&, views::marks, Result) {}
template <class E, class Extents, class Result>
void step(operand_layout& x, const Extents& e, views::broadcast, Result r) {
  step<E>(x, e, views::regroup{}, r);
}

// Elements before part P in a sum.
template <class P, class Extents, class... Parts>
extent_t elements_before(const Extents& e, list<Parts...>) {
  extent_t before = 0;
  (void)((std::is_same_v<P, Parts> || (before += e.template extent<Parts>(), false)) || ...);
  return before;
}
template <class Whole>
struct parts_of;
template <class... P>
struct parts_of<summed<P...>> {
  using type = list<P...>;
};

template <class E, class Extents, class Whole, class P, class Result>
void step_part(operand_layout& x, const E& whole, const Extents& e, views::part<Whole, P>, Result) {
  constexpr std::size_t first = first_axis<Whole>(dims_t<shape_of<E>>{});
  constexpr std::size_t count = axes_of<P>::type::size;
  constexpr std::size_t rank = axes_for<shape_of<E>>::size;
  x.first += times(x.axes[first].stride, elements_before<P>(whole.extents(), typename parts_of<Whole>::type{}));
  axis result[max_rank];
  axis_extents<typename Result::axes>::write(e, result);
  axis old[max_rank];
  for (std::size_t i = 0; i < rank; ++i) { old[i] = x.axes[i]; }
  std::ptrdiff_t stride = old[first].stride;
  for (std::size_t i = first + count; i-- > first;) {
    x.axes[i] = {result[i].extent, stride};
    stride = times(stride, result[i].extent);
  }
  for (std::size_t i = first + 1; i < rank; ++i) { x.axes[i + count - 1] = old[i]; }
}

template <class E, class Extents, class A, class B, class Result>
void step(operand_layout& x, const Extents& e, views::diagonal<A, B>, Result r) {
  x.axes[first_axis<A>(dims_t<shape_of<E>>{})].stride += x.axes[first_axis<B>(dims_t<shape_of<E>>{})].stride;
  step<E>(x, e, views::regroup{}, r);
}
template <class E, class Extents, class D, class Result>
void step(operand_layout& x, const Extents& e, views::at<D> how, Result r) {
  x.first += times(x.axes[first_axis<D>(dims_t<shape_of<E>>{})].stride, how.index);
  step<E>(x, e, views::regroup{}, r);
}
template <class E, class Extents, class D, class R, class Result>
void step(operand_layout& x, const Extents& e, views::slice<D, R> how, Result) {
  constexpr std::size_t first = first_axis<D>(dims_t<shape_of<E>>{});
  constexpr std::size_t count = axes_of<D>::type::size;
  constexpr std::size_t rank = axes_for<shape_of<E>>::size;
  if constexpr (count > 1) {
    x.axes[first].stride = x.axes[first + count - 1].stride;
    for (std::size_t i = first + count; i < rank; ++i) { x.axes[i + 1 - count] = x.axes[i]; }
  }
  x.first += times(x.axes[first].stride, how.first);
  x.axes[first].extent = e.template extent<R>();
}

template <class E, class Extents, class D, class W, class R, class Result>
void step(operand_layout& x, const Extents& e, views::unroll<D, W, R>, Result) {
  constexpr std::size_t at = first_axis<D>(dims_t<shape_of<E>>{});
  for (std::size_t i = axes_for<shape_of<E>>::size; i-- > at + 1;) { x.axes[i + 1] = x.axes[i]; }
  x.axes[at + 1] = {e.template extent<W>(), x.axes[at].stride};
  x.axes[at].extent = e.template extent<R>();
}
template <class E, class Extents, class D, class W, class R, std::size_t By, class Result>
void step(operand_layout& x, const Extents& e, views::unroll_by<D, W, R, By>, Result r) {
  step<E>(x, e, views::unroll<D, W, R>{}, r);
  constexpr std::size_t at = first_axis<D>(dims_t<shape_of<E>>{});
  x.axes[at].stride = times(x.axes[at].stride, By);
}
template <class E, class Extents, class D, class W, class R, class Result>
void step(operand_layout& x, const Extents& e, views::pool<D, W, R>, Result r) {
  step<E>(x, e, views::unroll<D, W, R>{}, r);
  constexpr std::size_t at = first_axis<D>(dims_t<shape_of<E>>{});
  x.axes[at].stride = times(x.axes[at].stride, e.template extent<W>());
}

template <class Axes>
struct result_axes {
  using axes = Axes;
};

// A product that becomes one dimension: its elements must be contiguous, or they are copied first.
template <class How>
struct joins_axes_of {
  using type = list<>;
};
template <class From, class To>
struct joins_axes_of<views::rename<From, To>> : axes_of<From> {
  using dimension = From;
};
template <class D, class R>
struct joins_axes_of<views::slice<D, R>> : axes_of<D> {
  using dimension = D;
};
template <class How>
inline constexpr bool joins_axes = joins_axes_of<How>::type::size > 1;
template <class How, class E>
bool needs_dense(const axis* axes) {
  using joined = joins_axes_of<How>;
  return !follow_each_other(axes + first_axis<typename joined::dimension>(dims_t<shape_of<E>>{}), joined::type::size);
}

// The layout of a node that looks otherwise, from that of its operand, which is dense where it must be.
template <class Shape, class How, class E>
void take_step(operand_layout& x, const restride<Shape, How, E>& n) {
  step<E>(x, n.extents(), n.op().how, result_axes<axes_for<Shape>>{});
}
template <class Shape, class Whole, class P, class E>
void take_step(operand_layout& x, const restride<Shape, views::part<Whole, P>, E>& n) {
  step_part<E>(x, n.template child<0>(), n.extents(), n.op().how, result_axes<axes_for<Shape>>{});
}
// A view of `x`, in place; the operand is copied first where the axes that the view joins do not follow each other.
template <class T, class Shape, class How, class E>
void take_view(lowered<T>& x, const restride<Shape, How, E>& n) {
  if constexpr (joins_axes<How>) {
    if (needs_dense<How, E>(x.axes)) { make_dense<T, axes_for<shape_of<E>>>(x); }
  }
  detail::take_step(x, n);
  if (x.data != nullptr) { x.data += x.first; }  // null: a plan, or there are no elements
  x.first = 0;
}

}  // namespace dimwise::detail
