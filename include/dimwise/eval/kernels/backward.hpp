// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/backward.hpp -- the nodes of the backward pass through vectorized kernels.
//
// Layer: eval. Each is a specialisation of a strategy of the one list (eval/strategies.hpp).
// Tests: tests/grad/plan.test.cpp
#pragma once

#include <dimwise/eval/loops/backward.hpp>
#include <dimwise/expr/elements/derivative.hpp>
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/kernels/rows.hpp>
#include <dimwise/kernels/dispatch/active_gradients.hpp>

#include <algorithm>

namespace dimwise::detail {

// g · f'(x)
template <class F>
struct chain_kernel {
  template <class Table, class Pointers, class T>
  static void run(const Table&, std::size_t n, const Pointers& x, const std::ptrdiff_t* step, T* to) {
    const kernels::element_gradient_table<T>& table = kernels::active_gradients_for<T>();
    if (step[0] == 1 && step[1] == 1) {
      return table.map_gradient(function_code<F>, n, child_in<1>(x), child_in<0>(x), to);
    }
    for (std::size_t i = 0; i < n; ++i) {  // one of them is the same for all
      const auto j = static_cast<std::ptrdiff_t>(i);
      table.map_gradient(function_code<F>, 1, child_in<1>(x) + j * step[1], child_in<0>(x) + j * step[0], to + i);
    }
  }
};
template <class Shape, real_element T, class F, class G, class X>
  requires(function_code<F> != kernels::function::none)
struct element_kernel<elementwise<Shape, T, fn::chain<F, 0>, G, X>>
    : has_element_kernel<is_float<G> && is_float<X>, chain_kernel<F>> {};

// A choice between what arrives and a number.
template <bool First>
struct chosen_part_kernel {
  template <class Table, class Pointers, class T>
  static void run(const Table& table, std::size_t n, const Pointers& x, const std::ptrdiff_t* step, T* to) {
    constexpr T none = 0;
    if constexpr (First) {
      table.choose(n, child_in<0>(x), step[0], child_in<1>(x), step[1], &none, 0, to);
    } else {
      table.choose(n, child_in<0>(x), step[0], &none, 0, child_in<1>(x), step[1], to);
    }
  }
};
template <class Shape, real_element T, bool First, class M, class G>
struct element_kernel<elementwise<Shape, T, fn::chosen_part<First>, M, G>>
    : has_element_kernel<is_float<G>, chosen_part_kernel<First>, cached_part> {};
struct visible_part_kernel {
  template <class Table, class Pointers, class T>
  static void run(const Table& table, std::size_t n, const Pointers& x, const std::ptrdiff_t* step, T* to) {
    constexpr T hidden = -T(0);
    table.choose(n, child_in<0>(x), step[0], child_in<1>(x), step[1], &hidden, 0, to);
  }
};
template <class Shape, real_element T, class M, class G>
struct element_kernel<elementwise<Shape, T, fn::visible_part, M, G>>
    : has_element_kernel<is_float<G>, visible_part_kernel, cached_part> {};

template <class How>
inline constexpr bool has_back_kernel =
    is_any_of<How, rows::softmax, rows::log_softmax, rows::standardize, rows::root_mean_square>;

template <class How, class T>
void call_rows_back(context& cx, const kernels::rows_gradient_call_of<T>& call) {
  const kernels::element_gradient_table<T>& table = kernels::active_gradients_for<T>();
  const auto norm = [&](auto run) { run(call, scratch(table.norm_gradient_bytes(call)).data(), cx.runner()); };
  if constexpr (std::is_same_v<How, rows::standardize>) {
    norm(table.standardize_gradient);
  } else if constexpr (std::is_same_v<How, rows::root_mean_square>) {
    norm(table.root_mean_square_gradient);
  } else {
    const std::size_t rows_of_part = call.n >= part_elements ? 1 : part_elements / call.n;
    in_parts(cx, call.rows, rows_of_part, [&](std::size_t begin, std::size_t end) {
      const auto at = static_cast<std::ptrdiff_t>(begin);
      kernels::rows_gradient_call_of<T> part = call;
      part.rows = end - begin;
      part.in += at * call.in_row;
      part.gradient += at * call.gradient_row;
      part.out += at * call.out_row;
      if constexpr (std::is_same_v<How, rows::softmax>) {
        table.softmax_gradient(part);
      } else if constexpr (std::is_same_v<How, rows::log_softmax>) {
        table.log_softmax_gradient(part);
      } else {
        static_assert(is_handled<How>, "dimwise: this operation over rows names no kernel of its gradient");
      }
    });
  }
}

inline bool rows_back_fit(const back_row& row) {
  return row.rank == 1 && !row.empty() && row.stride[0][0] == 1 && row.stride[1][0] == 1 && row.stride[2][0] == 1;
}
// The gradients of rows by the kernel, where they are contiguous, or one after the other.
template <class How, class T>
void compute_rows_back(context& cx, const back_form& form, target<T> to, const lowered<T>& g, const lowered<T>& x,
                       T epsilon) {
  const back_loops all = form.loops(to.axes, g.axes, x.axes);
  if (cx.reference_forced() || !rows_back_fit(all.inside)) {
    cx.count(plan_kind::plain);
    return row_back_by_row<How>(all, to.data, g.data, x.data, epsilon);
  }
  cx.count(plan_kind::rows);
  kernels::rows_gradient_call_of<T> call;
  call.n = all.inside.extent[0];
  call.epsilon = epsilon;
  kernels::for_each_row(all.outside, [&](const std::ptrdiff_t(&o)[3], std::size_t count, const std::ptrdiff_t(&s)[3]) {
    call.rows = count;
    call.out = to.data + o[0];
    call.out_row = s[0];
    call.gradient = g.data + o[1];
    call.gradient_row = s[1];
    call.in = x.data + o[2];
    call.in_row = s[2];
    call_rows_back<How>(cx, call);
  });
}

// A strategy: the gradients of contiguous rows.
template <class How, class Over, class Shape, class T, class G, class X>
struct by_row_kernel<node<rows_back<How, Over>, Shape, T, G, X>> {
  using N = node<rows_back<How, Over>, Shape, T, G, X>;
  static constexpr bool matches = has_back_kernel<How> && is_float<G> && is_float<X>;
  static constexpr bool in_double = true;
  static constexpr plan_kind kind = plan_kind::rows;

  template <class Lowered>
  static bool fits(const N&, const axis* to, const Lowered& x) {
    return rows_back_fit(form_of_back<N>.inside.nest(to, child_in<0>(x).axes, child_in<1>(x).axes));
  }
  template <class C, class Lowered>
  [[gnu::always_inline]] static void compute(context& cx, const N& n, target<C> to, const Lowered& x) {
    compute_rows_back<How>(cx, form_of_back<N>, to, child_in<0>(x), child_in<1>(x), static_cast<C>(n.op().epsilon));
  }
};

// ---- views ----------------------------------------------------------------------------------------------------------

inline operand_layout layout_of_target(std::size_t rank, const axis* to) {
  operand_layout layout;
  for (std::size_t i = 0; i < rank; ++i) { layout.axes[i] = to[i]; }
  return layout;
}
inline bool view_back_fits(const view_form& form, const axis* to, const axis* g) {
  if (!follow_each_other(to, form.rank) || to[form.rank - 1].stride != 1) { return false; }
  const auto row = form.loops(form.node, layout_of_target(form.rank, to), g).nest;
  const std::size_t in = row.rank - 1;
  return row.rank > 0 && !row.empty() && row.stride[0][in] == 1 && row.stride[1][in] == 1 &&
         row.extent[in] >= least_row;
}
// The gradient of what a view has read, added where it has read it: row by row, or by loops.
template <class T>
void compute_view_back(context& cx, const view_form& form, target<T> to, const lowered<T>& g) {
  if (cx.reference_forced() || !view_back_fits(form, to.axes, g.axes)) {
    cx.count(plan_kind::plain);
    return view_back_by_loops(form, to, g);
  }
  cx.count(plan_kind::rows);
  std::size_t all = 1;
  for (std::size_t i = 0; i < form.rank; ++i) { all *= to.axes[i].extent; }
  std::fill_n(to.data, all, T(0));
  const view_loops view = form.loops(form.node, layout_of_target(form.rank, to.axes), g.axes);
  add_view(view.nest, to.data + view.first, g.data,
           [](std::size_t count, T* sums, std::ptrdiff_t, const T* from, std::ptrdiff_t) {
    kernels::active_for<T>().zip(kernels::operation::add, count, sums, 1, from, 1, sums);
  });
}

// A strategy: rows of a view's gradient, added where the view has read them.
template <class How, class View, class Shape, class T, class G>
struct by_row_kernel<node<view_back<How, View>, Shape, T, G>> {
  using N = node<view_back<How, View>, Shape, T, G>;
  static constexpr bool matches = is_float<G> && axes_for<Shape>::size > 0;
  static constexpr bool in_double = true;
  static constexpr plan_kind kind = plan_kind::rows;

  template <class Lowered>
  static bool fits(const N& n, const axis* to, const Lowered& x) {
    return view_back_fits(view_form_of(n), to, child_in<0>(x).axes);
  }
  template <class C, class Lowered>
  [[gnu::always_inline]] static void compute(context& cx, const N& n, target<C> to, const Lowered& x) {
    compute_view_back<C>(cx, view_form_of(n), to, child_in<0>(x));
  }
};

// ---- ids ------------------------------------------------------------------------------------------------------------

// Whether the kernel takes rows that are added to one table.
inline bool scatter_rows_fit(const kernels::loop_nest<3>& ids, const kernels::loop_nest<2>& row) {
  for (std::size_t i = 0; i < ids.rank; ++i) {
    if (ids.stride[0][i] != 0) { return false; }  // rows of several tables
  }
  return row.rank == 1 && row.stride[0][0] == 1 && row.stride[1][0] == 1;
}
// Rows of a table's gradient, each where its id says. A template, as in `check_ids`.
template <std::size_t K>
void scatter_rows(context& cx, const kernels::loop_nest<1>& all, const kernels::loop_nest<K>& nest,
                  const kernels::loop_nest<2>& row, const axis& along, name_of name, float* to, const float* values,
                  const std::size_t* ids) {
  fill_zero(all, to);
  if (nest.empty()) { return; }
  check_ids(nest, ids, along.extent, name);
  kernels::scatter_call call;
  call.n = row.extent[0];
  call.out = to;
  const aligned_vector<added_row> sorted = rows_of_long_sums(nest, ids, along);
  if (!sorted.empty()) {
    call.rows = sorted.size();
    call.in = values;
    call.pairs = sorted.data();
    return kernels::active_gradients().scatter_add(call, cx.runner());
  }
  call.out_row = along.stride;
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[K], std::size_t count, const std::ptrdiff_t(&s)[K]) {
    call.rows = count;
    call.ids = ids + o[2];
    call.id_step = s[2];
    call.in = values + o[1];
    call.in_row = s[1];
    kernels::active_gradients().scatter_add(call, cx.runner());
  });
}

// A strategy: rows of a table's gradient, each where its id says.
template <class D, class Shape, class T, class Values, class Ids>
struct by_row_kernel<node<gather_back<D>, Shape, T, Values, Ids>>
    : kernel_or_loops<by_row_kernel<node<gather_back<D>, Shape, T, Values, Ids>>> {
  using N = node<gather_back<D>, Shape, T, Values, Ids>;
  static constexpr bool matches = is_float<Values>;
  static constexpr plan_kind kind = plan_kind::rows;

  template <class Lowered>
  static bool fits(const N& n, const axis* to, const Lowered& x) {
    if (!one_axis<D, axes_for<Shape>>::is_one(to)) { return false; }
    const scatter_loops<N> loops(n, to, x);
    return scatter_rows_fit(loops.ids, loops.row);
  }
  template <class Lowered>
  static void run(context& cx, const N& n, target<float> to, const Lowered& x) {
    const scatter_loops<N> loops(n, to.axes, x);
    scatter_rows(cx, loops.all, loops.ids, loops.row, loops.along, &dimension_name<D>, to.data, child_in<0>(x).data,
                 numbers_of(child_in<1>(x).data));
  }
};

#if DIMWISE_DETAIL_HAS_LIBRARY
#define DIMWISE_DETAIL_ROWS_BACK(How, T)                                                             \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_rows_back<How>(context&, const back_form&, target<T>, \
                                                              const lowered<T>&, const lowered<T>&, T);
DIMWISE_DETAIL_ROWS_BACK(rows::softmax, float)
DIMWISE_DETAIL_ROWS_BACK(rows::log_softmax, float)
DIMWISE_DETAIL_ROWS_BACK(rows::standardize, float)
DIMWISE_DETAIL_ROWS_BACK(rows::root_mean_square, float)
DIMWISE_DETAIL_ROWS_BACK(rows::softmax, double)
DIMWISE_DETAIL_ROWS_BACK(rows::log_softmax, double)
DIMWISE_DETAIL_ROWS_BACK(rows::standardize, double)
DIMWISE_DETAIL_ROWS_BACK(rows::root_mean_square, double)
#undef DIMWISE_DETAIL_ROWS_BACK
DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_view_back<float>(context&, const view_form&, target<float>,
                                                              const lowered<float>&);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_view_back<double>(context&, const view_form&, target<double>,
                                                               const lowered<double>&);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void scatter_rows<3>(context&, const kernels::loop_nest<1>&,
                                                     const kernels::loop_nest<3>&, const kernels::loop_nest<2>&,
                                                     const axis&, name_of, float*, const float*, const std::size_t*);
#endif

}  // namespace dimwise::detail
#endif
