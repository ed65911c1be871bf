// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/strategies.hpp -- how a node without a record is computed.
//
// Layer: eval. Most nodes become records (eval/records/form.hpp). Of the others comparisons have a kernel, which takes
// contiguous elements; the reference loops take every node.
// Tests: tests/eval/plan/plan.test.cpp
#pragma once

#include <dimwise/eval/kernels/elements.hpp>
#include <dimwise/eval/loops/elements.hpp>
#include <dimwise/eval/loops/positions.hpp>
#include <dimwise/eval/loops/rows.hpp>
#include <dimwise/eval/loops/scatter.hpp>
#include <dimwise/eval/lowering/joins.hpp>
#include <dimwise/eval/lowering/masks.hpp>
#include <dimwise/eval/records/form.hpp>
#include <dimwise/kernels/dispatch/active.hpp>

namespace dimwise::detail {

// Nodes whose elements are those of their operands in other places: memory is copied, nothing is computed.
template <class N>
inline constexpr bool copies_elements = false;
template <class Shape, class D, class Table, class Ids>
inline constexpr bool copies_elements<gathered<Shape, D, Table, Ids>> = true;
template <class Shape, class How, class D, class E>
inline constexpr bool copies_elements<reordered<Shape, How, D, E>> = true;
template <class Shape, class T, class M, class A, class B>  // ids, and bools
inline constexpr bool copies_elements<elementwise<Shape, T, fn::choose, M, A, B>> = !real_element<T>;

template <class N>
inline constexpr bool is_masked_total = false;
template <class Shape, class T, class How, class Over, class E>
inline constexpr bool is_masked_total<reduction<Shape, T, How, Over, E>> = is_masked_node<E>;

// `n` into `to`, in C.
template <class C, class Pass, class N, class T>
void compute(Pass& pass, const N& n, target<T> to) {
  if constexpr (is_constant<N>) {
    if constexpr (Pass::computes) { *to.data = static_cast<T>(n.op().value); }
  } else if constexpr (is_join<N>) {
    place_children<C>(pass, n, to);
    pass.note(plan_kind::plain, n, operation_in_words<N>);
  } else if constexpr (is_masked_total<N>) {
    auto x = read_children<C>(pass, n.template child<0>());
    pass.note(plan_kind::plain, n, operation_in_words<N>);
    if constexpr (Pass::computes) { masked_total_loops<C>(n, to, x); }
  } else {
    auto x = read_children<C>(pass, n);
    if constexpr (is_comparison<N> && has_kernels_for<C, N>) {
      const auto nest = child_nest<N>(to.axes, x);
      if (!pass.cx.reference_forced() && elements_fit(nest, no_any_step)) {
        pass.note(plan_kind::map, n, operation_in_words<N>);
        if constexpr (Pass::computes) { compare(pass.cx, n, nest, to.data, x); }
        return;
      }
    }
    pass.note(copies_elements<N> ? plan_kind::copy : plan_kind::plain, n, operation_in_words<N>);
    if constexpr (Pass::computes) { loops<C>(n, to, x); }
  }
}

template <class C, class Pass, class N>
[[gnu::always_inline]] inline void write(Pass& pass, const N& n, target<compute_t<C, value_of<N>>> to) {
  if constexpr (is_erased<N>) {
    write_erased<C>(pass, untracked_of(n), to);
  } else if constexpr (is_recorded<N>) {
    write_recorded<C>(pass, n, to);
  } else if constexpr (reads_in_place<N>) {
    const auto x = read<C>(pass, n);
    pass.note(plan_kind::copy, n, [] { return std::string("copy"); });
    if constexpr (Pass::computes) {
      copy_axes<compute_t<C, value_of<N>>>(axes_for<shape_of<N>>::size, x.axes, to.axes, x.axes, to.data, x.data);
    }
  } else {
    compute<C>(pass, n, to);
  }
}

}  // namespace dimwise::detail
