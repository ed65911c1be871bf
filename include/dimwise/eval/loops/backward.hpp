// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops/backward.hpp -- the reference loops of the backward pass of views, ids and relative positions.
//
// Layer: eval. backward_rows.hpp has the loops of rows and reductions.
// Tests: tests/grad/operations/views.test.cpp
#pragma once

#include <dimwise/eval/loops/backward_rows.hpp>
#include <dimwise/eval/loops/scatter.hpp>
#include <dimwise/eval/lowering/views.hpp>
#include <dimwise/expr/backward.hpp>

#include <algorithm>
#include <vector>

namespace dimwise::detail {

// A gradient as the factor of a product, which leaves out what its zeros meet (fn::sent).
namespace views {
struct arrived {
  static constexpr const char* name = "gradient";
};
}  // namespace views
template <class Shape, class E>
inline constexpr bool gives_hidden_weights<restride<Shape, views::arrived, E>> = false;
template <class Shape, class E>
inline constexpr bool may_give_hidden_weights<restride<Shape, views::arrived, E>> = false;
template <class Shape, class E>
inline constexpr auto leaves_out<restride<Shape, views::arrived, E>> = kernels::left_out::zeros;
template <class Dims>
struct facts_of_view<views::arrived, Dims> : facts_of_view<views::marks, Dims> {};

// ---- views ----------------------------------------------------------------------------------------------------------

// The loops over what a view read: of the operand of that layout, and of the gradient.
struct view_loops {
  std::ptrdiff_t first;  // of the operand's elements that are read
  kernels::loop_nest<2> nest;
};
// The loops of a node, for an operand of the layout `to`: all that is compiled for each view.
using view_loops_of = view_loops(const void* node, operand_layout to, const axis* g);
template <class Shape, class T, class How, class View, class G>
view_loops loops_of_view(const node<view_back<How, View>, Shape, T, G>& n, operand_layout to, const axis* g) {
  // N has the shape and the extents of the view's operand, which is all that the view's step reads.
  using N = node<view_back<How, View>, Shape, T, G>;
  using view_axes = axes_for<View>;
  step<N, view_axes>(to, n.op().how, n.extents(), n.op().view);
  std::ptrdiff_t strides[2][max_rank] = {};
  for (std::size_t i = 0; i < view_axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  align<view_axes, axes_for<shape_of<G>>>(g, strides[1]);
  axis extents[max_rank];
  axis_extents<view_axes>::write(n.op().view, extents);
  return {to.first, nest_over(view_axes::size, extents, strides)};
}
template <class N>
view_loops loops_of_view_at(const void* node, operand_layout to, const axis* g) {
  return loops_of_view(*static_cast<const N*>(node), to, g);
}

// How many elements of a view may be one element of its operand, which is the first pointer. From the largest step
// down: each axis reaches an element from as many places as what is left moves by steps of it.
template <std::size_t K>
std::size_t most_terms(const kernels::loop_nest<K>& nest) {
  axis axes[max_rank];
  for (std::size_t i = 0; i < nest.rank; ++i) {
    axes[i] = {nest.extent[i], nest.stride[0][i] < 0 ? -nest.stride[0][i] : nest.stride[0][i]};
  }
  std::sort(axes, axes + nest.rank, [](const axis& a, const axis& b) { return a.stride < b.stride; });
  std::size_t most = 1;
  std::size_t span = 0;  // of the axes with smaller steps
  for (std::size_t i = 0; i < nest.rank; ++i) {
    const auto step = static_cast<std::size_t>(axes[i].stride);
    const std::size_t extent = axes[i].extent;
    most = saturating_product(most, step == 0 ? extent : std::min(extent, span / step + 1));
    span += extent == 0 ? 0 : (extent - 1) * step;
  }
  return most;
}

// The elements of a view added to those of its operand that they are; add(n, sums, step, from, step) adds a row. Where
// one element is very many of the view's, blocks of rows have sums of their own.
template <class T, class Add>
void add_view(const kernels::loop_nest<2>& nest, T* sums, const T* g, const Add& add) {
  constexpr std::size_t block = 128;
  const bool is_long = most_terms(nest) > kernels::detail_loops::few_terms;
  std::vector<added_row> rows;
  std::vector<T> part;
  const auto finish = [&](std::size_t count, const std::ptrdiff_t(&s)[2]) {
    const auto [low, high] = std::minmax_element(rows.begin(), rows.end(),
                                                 [](const added_row& a, const added_row& b) { return a.to < b.to; });
    const std::ptrdiff_t along = static_cast<std::ptrdiff_t>(count - 1) * s[0];
    const std::ptrdiff_t first = low->to + std::min(along, std::ptrdiff_t{0});
    const auto size = static_cast<std::size_t>(high->to + std::max(along, std::ptrdiff_t{0}) - first) + 1;
    // Few of the elements between them are theirs: these rows do not meet.
    const bool apart = size / 4 > rows.size() * count;
    part.assign(apart ? 0 : size, T(0));
    for (const added_row& row : rows) {
      add(count, (apart ? sums + row.to : part.data() + (row.to - first)), s[0], g + row.from, s[1]);
    }
    if (!apart) { add(size, sums + first, 1, part.data(), 1); }
    rows.clear();
  };
  std::size_t inner = 0;
  std::ptrdiff_t steps[2] = {};
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[2], std::size_t count, const std::ptrdiff_t(&s)[2]) {
    if (!is_long) { return add(count, sums + o[0], s[0], g + o[1], s[1]); }
    inner = count;
    steps[0] = s[0];
    steps[1] = s[1];
    rows.push_back({o[0], o[1]});
    if (rows.size() == block) { finish(count, s); }
  });
  if (!rows.empty()) { finish(inner, steps); }
}
// What remains of the gradient of a view when its names are gone: its node, the loops of it, and the layout of a buffer
// of the operand's own order, which the loops need: a view may join axes that follow each other.
struct view_form {
  const void* node;
  view_loops_of* loops;
  operand_layout (*dense)(const void* node);
  std::size_t rank;
};
template <class N>
operand_layout dense_layout_at(const void* node) {
  return buffer_layout(*static_cast<const N*>(node));
}
template <class N>
view_form view_form_of(const N& n) {
  return {&n, &loops_of_view_at<N>, &dense_layout_at<N>, axes_for<shape_of<N>>::size};
}
template <class T>
void view_back_by_loops(const view_form& form, target<T> to, const lowered<T>& g) {
  const operand_layout all = form.dense(form.node);
  std::size_t n = 1;
  for (std::size_t i = 0; i < form.rank; ++i) { n = saturating_product(n, all.axes[i].extent); }
  aligned_vector<T> buffer(n);
  std::fill(buffer.begin(), buffer.end(), T(0));
  const view_loops view = form.loops(form.node, all, g.axes);
  add_view(view.nest, buffer.data() + view.first, g.data,
           [](std::size_t count, T* sums, std::ptrdiff_t by, const T* from, std::ptrdiff_t step) {
    for (; count > 0; --count, sums += by, from += step) { *sums += *from; }
  });
  copy_axes<T>(form.rank, all.axes, to.axes, all.axes, to.data, buffer.data());
}
template <class C, class How, class View, class Shape, class U, class G, class T, class Lowered>
void loops(const node<view_back<How, View>, Shape, U, G>& n, target<T> to, const Lowered& x) {
  view_back_by_loops<T>(view_form_of(n), to, child_in<0>(x));
}

// ---- gather ---------------------------------------------------------------------------------------------------------

template <class C, class Shape, class D, class U, class Values, class Ids, class T, class Lowered>
void loops(const node<gather_back<D>, Shape, U, Values, Ids>& n, target<T> to, const Lowered& in) {
  scatter(n, to, in);
}

// ---- skew -----------------------------------------------------------------------------------------------------------

template <class C, class Q, class R, class K, class Shape, class U, class G, class T, class Lowered>
void loops(const node<skew_back<Q, R, K>, Shape, U, G>& n, target<T> to, const Lowered& x) {
  using axes = axes_for<Shape>;
  using inner_axes = axes_for<shape_of<G>>;
  const auto& g = child_in<0>(x);
  constexpr std::size_t q_axis = index_in<Q, axes>;
  constexpr std::size_t r_axis = index_in<R, axes>;
  const axis keys = g.axes[index_in<K, inner_axes>];
  axis rest[max_rank];
  axis_extents<axes>::write(n.extents(), rest);
  const std::size_t queries = rest[q_axis].extent;
  const std::size_t relative = rest[r_axis].extent;
  rest[q_axis].extent = 1;
  rest[r_axis].extent = 1;
  std::ptrdiff_t strides[2][max_rank] = {};
  for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = to.axes[i].stride; }
  align<axes, inner_axes>(g.axes, strides[1]);
  const auto outside = nest_over(axes::size, rest, strides);
  for (std::size_t q = 0; q < queries; ++q) {
    for (std::size_t r = 0; r < relative; ++r) {
      const std::ptrdiff_t k = static_cast<std::ptrdiff_t>(r) - n.op().first + static_cast<std::ptrdiff_t>(q);
      const bool there = k >= 0 && k < static_cast<std::ptrdiff_t>(keys.extent);
      const std::ptrdiff_t out = times(to.axes[q_axis].stride, q) + times(to.axes[r_axis].stride, r);
      const std::ptrdiff_t from = there ? times(strides[1][q_axis], q) + k * keys.stride : 0;
      kernels::for_each_element(
          outside, [&](std::ptrdiff_t t, std::ptrdiff_t f) { to.data[t + out] = there ? g.data[f + from] : T(0); });
    }
  }
}

}  // namespace dimwise::detail
