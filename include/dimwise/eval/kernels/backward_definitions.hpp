// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/backward_definitions.hpp -- the gradients of functions, rows, reductions and views, each with
// its kernel and its reference loops.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/operations/, tests/grad/plan.test.cpp
#pragma once

#include <dimwise/eval/ids/table_gradient_definitions.hpp>
#include <dimwise/eval/kernels/backward.hpp>
#include <dimwise/eval/kernels/elements.hpp>
#include <dimwise/eval/loops/backward_rows.hpp>
#include <dimwise/eval/loops/backward_views.hpp>
#include <dimwise/eval/records/elements_definitions.hpp>
#include <dimwise/kernels/dispatch/active_gradients.hpp>

#include <algorithm>

namespace dimwise::detail {

// ---- functions -----------------------------------------------------------------------------------------------------

// A function without a derivative does not compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
template <class C>
void chained_loops(kernels::function f, const kernels::loop_nest<3>& nest, bool g_masked, bool x_masked, C* to,
                   const C* g, const C* x) {
  switch (f) {
    case kernels::function::none:
      return;
#define DIMWISE_DETAIL_LOOP(word) \
  case kernels::function::word:   \
    return binary_loop<C, fn::chain<fn::word, 0>>(nest, g_masked, x_masked, to, g, x);
      DIMWISE_DETAIL_FUNCTIONS(DIMWISE_DETAIL_LOOP)
#undef DIMWISE_DETAIL_LOOP
  }
}
#pragma GCC diagnostic pop

template <class C>
void write_chained(walk& w, const record<C>& r, target<C> to) {
  const auto g = read_record(w, *r.child[0]);
  const auto x = read_record(w, *r.child[1]);
  const auto nest = nest_of_children(r, to.axes, g, x);
  const auto f = static_cast<kernels::function>(r.index);
  if (runs_kernel(w, r, plan_kind::map, elements_fit(nest, no_any_step))) {
    if (!w.computes()) { return; }
    const auto& table = kernels::active_gradients_for<C>();
    return run_parts(w.cx, nest, part_elements,
                     [&](std::size_t n, const std::ptrdiff_t* at, const std::ptrdiff_t* step) {
      const C* const from = x.data + at[2];
      const C* const arrived = g.data + at[1];
      C* const out = to.data + at[0];
      if (step[1] == 1 && step[2] == 1) { return table.map_gradient(f, n, from, arrived, out); }
      for (std::size_t i = 0; i < n; ++i) {  // one of them is the same for all
        const auto j = static_cast<std::ptrdiff_t>(i);
        table.map_gradient(f, 1, from + j * step[2], arrived + j * step[1], out + i);
      }
    });
  }
  note(w, plan_kind::plain, r);
  if (!w.computes()) { return; }
  chained_loops(f, nest, r.child[0]->shape->masked, r.child[1]->shape->masked, to.data, g.data, x.data);
}

// The loops of a function of several operands, `x`, which belong to `of`.
template <class F, std::size_t Operands, class C>
void partial_loops(const record<C>& r, const target<C>& to, const lowered<C>& g, const lowered<C>* x,
                   const record<C>& of) {
  name_list names[1 + Operands] = {r.child[0]->shape->axes};
  const axis* axes[1 + Operands] = {g.axes};
  for (std::size_t k = 0; k < Operands; ++k) {
    names[1 + k] = of.child[k]->shape->axes;
    axes[1 + k] = x[k].axes;
  }
  constexpr std::size_t pointers = 2 + Operands;
  const auto nest = nest_by_names<1 + Operands>(r.shape->axes, to.axes, names, axes);
  each_index<Operands>([&](auto by) {
    if (static_cast<std::size_t>(r.index) != by) { return; }
    const fn::chain<F, by> chain;
    kernels::for_each_row(
        nest, [&](const std::ptrdiff_t(&o)[pointers], std::size_t count, const std::ptrdiff_t(&s)[pointers]) {
      for (std::size_t i = 0; i < count; ++i) {
        const auto at = [&](std::size_t k) { return o[k] + static_cast<std::ptrdiff_t>(i) * s[k]; };
        C& sent = to.data[at(0)];
        if constexpr (Operands == 2) {
          sent = chain(g.data[at(1)], x[0].data[at(2)], x[1].data[at(3)]);
        } else {
          sent = chain(g.data[at(1)], x[0].data[at(2)], x[1].data[at(3)], x[2].data[at(4)]);
        }
      }
    });
  });
}
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
template <class C>
void write_partial(walk& w, const record<C>& r, target<C> to) {
  const auto& of = *static_cast<const record<C>*>(r.node);
  const auto g = read_record(w, *r.child[0]);
  const bool clamps = of.operation == &records::clamped<C>;
  const lowered<C> x[] = {read_record(w, *of.child[0]), read_record(w, *of.child[1]),
                          clamps ? read_record(w, *of.child[2]) : lowered<C>()};
  note(w, plan_kind::plain, r);
  if (clamps) { return partial_loops<fn::clamp, 3>(r, to, g, x, of); }
  if (of.operation == &records::power<C>) { return partial_loops<fn::pow, 2>(r, to, g, x, of); }
  switch (static_cast<kernels::operation>(of.index)) {
    case kernels::operation::divide:
      return partial_loops<fn::divide, 2>(r, to, g, x, of);
    case kernels::operation::max:
      return partial_loops<fn::larger, 2>(r, to, g, x, of);
    case kernels::operation::min:
      return partial_loops<fn::smaller, 2>(r, to, g, x, of);
    case kernels::operation::add:
    case kernels::operation::subtract:
    case kernels::operation::multiply:
    case kernels::operation::hide:
    case kernels::operation::send_times:
    case kernels::operation::send_divided:
      return;  // their adjoints make no such record
  }
}
#pragma GCC diagnostic pop

// ---- rows and totals -----------------------------------------------------------------------------------------------

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
// The gradients of rows that fit.
template <class How, class T>
void run_rows_back(context& cx, const back_loops& all, T* to, const T* g, const T* x, T epsilon) {
  kernels::rows_gradient_call_of<T> call;
  call.n = all.inside.extent[0];
  call.epsilon = epsilon;
  kernels::for_each_row(all.outside, [&](const std::ptrdiff_t(&o)[3], std::size_t count, const std::ptrdiff_t(&s)[3]) {
    call.rows = count;
    call.out = to + o[0];
    call.out_row = s[0];
    call.gradient = g + o[1];
    call.gradient_row = s[1];
    call.in = x + o[2];
    call.in_row = s[2];
    call_rows_back<How>(cx, call);
  });
}

template <class C>
back_loops back_loops_over(const record<C>& r, const axis* to, const axis* first, const axis* second) {
  const auto& over = r.template facts_as<name_list>();
  const name_list names = r.shape->axes;
  back_loops all;
  const auto add = [&](back_row& nest, std::size_t i) {
    const auto stride = [&](std::size_t k, const axis* axes) {
      const short place = r.child[k]->shape->axes.place_of(names.at[i]);
      return place < 0 ? 0 : axes[place].stride;
    };
    nest.add(to[i].extent, {to[i].stride, stride(0, first), stride(1, second)});
  };
  for (std::size_t i = 0; i < names.size; ++i) {
    if (over.place_of(names.at[i]) < 0) { add(all.outside, i); }
  }
  for (const name_of name : over) { add(all.inside, static_cast<std::size_t>(names.place_of(name))); }
  return all;
}

template <class C, class How>
void write_rows_back(walk& w, const record<C>& r, target<C> to) {
  const auto g = read_record(w, *r.child[0]);
  const auto x = read_record(w, *r.child[1]);
  const back_loops all = back_loops_over(r, to.axes, g.axes, x.axes);
  const auto epsilon = static_cast<C>(r.number);
  if constexpr (kernels::available && has_back_kernel<How>) {
    if (runs_kernel(w, r, plan_kind::rows, rows_back_fit(all.inside))) {
      if (w.computes()) { run_rows_back<How>(w.cx, all, to.data, g.data, x.data, epsilon); }
      return;
    }
  }
  note(w, plan_kind::plain, r);
  if (w.computes()) { row_back_by_row<How>(all, to.data, g.data, x.data, epsilon); }
}

template <class C, class How>
void write_total_back(walk& w, const record<C>& r, target<C> to) {
  const auto g = read_record(w, *r.child[0]);
  const auto x = read_record(w, *r.child[1]);
  note(w, plan_kind::plain, r);
  if (!w.computes()) { return; }
  const back_loops all = back_loops_over(r, to.axes, g.axes, x.axes);
  if (all.inside.empty()) { return; }
  const bool masked = r.index != 0;
  each_in_row(all.outside, [&](auto t, auto i, auto j) {
    if (masked) {
      total_row_back<true, How>(all.inside, to.data + t, g.data[i], x.data + j);
    } else {
      total_row_back<false, How>(all.inside, to.data + t, g.data[i], x.data + j);
    }
  });
}

// ---- views ---------------------------------------------------------------------------------------------------------

// The loops over what a view has read: of its operand with this layout, and of what arrives.
struct view_loops {
  std::ptrdiff_t first;  // of the operand's elements that are read
  kernels::loop_nest<2> nest;
};
template <class C>
view_loops view_loops_of(const record<C>& r, operand_layout to, const axis* g) {
  const auto& view = *static_cast<const record<C>*>(r.node);
  const name_list names = view.shape->axes;
  axis extents[max_rank] = {};  // g++ does not see that `write_extents` writes it
  view.write_extents(extents);
  take_step(to, view.template facts_as<view_facts>(), static_cast<std::size_t>(view.index), r.shape->axes, names,
            extents);
  std::ptrdiff_t strides[2][max_rank];
  for (std::size_t i = 0; i < names.size; ++i) { strides[0][i] = to.axes[i].stride; }
  align_names(names, r.child[0]->shape->axes, g, strides[1]);
  return {to.first, nest_over(names.size, extents, strides)};
}

template <class C>
void write_view_back(walk& w, const record<C>& r, target<C> to) {
  const auto g = read_record(w, *r.child[0]);
  const std::size_t rank = r.rank();
  operand_layout all;
  std::size_t n = 1;
  const bool is_row = rank > 0 && follow_each_other(to.axes, rank) && to.axes[rank - 1].stride == 1;
  if (is_row && r.has_kernels && !w.cx.reference_forced()) {
    for (std::size_t i = 0; i < rank; ++i) {
      all.axes[i] = to.axes[i];
      n *= to.axes[i].extent;
    }
    const view_loops view = view_loops_of(r, all, g.axes);
    const std::size_t in = view.nest.rank - 1;
    if (view.nest.rank > 0 && !view.nest.empty() && view.nest.stride[0][in] == 1 && view.nest.stride[1][in] == 1 &&
        view.nest.extent[in] >= least_row) {
      note(w, plan_kind::rows, r);
      if (!w.computes()) { return; }
      std::fill_n(to.data, n, C(0));
      return add_view(view.nest, to.data + view.first, g.data,
                      [](std::size_t count, C* sums, std::ptrdiff_t, const C* from, std::ptrdiff_t) {
        kernels::active_for<C>().zip(kernels::operation::add, count, sums, 1, from, 1, sums);
      });
    }
  }
  note(w, plan_kind::plain, r);
  if (!w.computes()) { return; }
  // In the operand's own order, which the loops need: a view may join axes that follow each other.
  r.write_extents(all.axes);
  make_contiguous(all.axes, rank);
  n = 1;
  for (std::size_t i = 0; i < rank; ++i) { n = saturating_product(n, all.axes[i].extent); }
  aligned_vector<C> buffer(n);
  std::fill(buffer.begin(), buffer.end(), C(0));
  const view_loops view = view_loops_of(r, all, g.axes);
  add_view(view.nest, buffer.data() + view.first, g.data,
           [](std::size_t count, C* sums, std::ptrdiff_t by, const C* from, std::ptrdiff_t step) {
    for (; count > 0; --count, sums += by, from += step) { *sums += *from; }
  });
  copy_axes<C>(rank, all.axes, to.axes, all.axes, to.data, buffer.data());
}

#define DIMWISE_DETAIL_COMPILED_none(function, How)
#define DIMWISE_DETAIL_COMPILED_formula(function, How)
#define DIMWISE_DETAIL_COMPILED_operand(function, How) DIMWISE_DETAIL_COMPILED(function, How)
#define DIMWISE_DETAIL_COMPILED_result(function, How) DIMWISE_DETAIL_COMPILED(function, How)
#define DIMWISE_DETAIL_COMPILED_ROW(word, text, reads) DIMWISE_DETAIL_COMPILED_##reads(write_rows_back, rows::word)
#define DIMWISE_DETAIL_COMPILED_TOTAL(word, text, reads) DIMWISE_DETAIL_COMPILED_##reads(write_total_back, totals::word)
DIMWISE_DETAIL_ROWS(DIMWISE_DETAIL_COMPILED_ROW)
DIMWISE_DETAIL_COMPILED(write_rows_back, rows::sort<false>)
DIMWISE_DETAIL_COMPILED(write_rows_back, rows::sort<true>)
DIMWISE_DETAIL_TOTALS(DIMWISE_DETAIL_COMPILED_TOTAL)
#undef DIMWISE_DETAIL_COMPILED_TOTAL
#undef DIMWISE_DETAIL_COMPILED_ROW
#undef DIMWISE_DETAIL_COMPILED_result
#undef DIMWISE_DETAIL_COMPILED_operand
#undef DIMWISE_DETAIL_COMPILED_formula
#undef DIMWISE_DETAIL_COMPILED_none
DIMWISE_DETAIL_COMPILED(write_chained)
DIMWISE_DETAIL_COMPILED(write_partial)
DIMWISE_DETAIL_COMPILED(write_view_back)

}  // namespace dimwise::detail
