// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/backward_definitions.hpp -- the gradients of functions, rows, reductions and views, each with
// its kernel and its reference loops.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/operations/, tests/grad/plan.test.cpp
#pragma once

#include <dimwise/eval/kernels/backward.hpp>
#include <dimwise/eval/loops/backward_rows.hpp>
#include <dimwise/eval/records/elements_definitions.hpp>

#include <algorithm>
#include <vector>

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
  const auto nest =
      nest_by_names<2>(r.shape->axes, to.axes, {r.child[0]->shape->axes, r.child[1]->shape->axes}, {g.axes, x.axes});
  const auto f = static_cast<kernels::function>(r.index);
#if !defined(DIMWISE_PLAIN_ONLY)
  if (r.has_kernels && !w.cx.reference_forced() && elements_fit(nest, no_any_step)) {
    note(w, plan_kind::map, r);
    if (!w.computes()) { return; }
    const auto& table = kernels::active_gradients_for<C>();
    return run_parts<C>(w.cx, nest, part_elements,
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
#endif
  note(w, plan_kind::plain, r);
  if (!w.computes()) { return; }
  chained_loops(f, nest, r.child[0]->shape->masked, r.child[1]->shape->masked, to.data, g.data, x.data);
}

// ---- rows and totals -----------------------------------------------------------------------------------------------

#if !defined(DIMWISE_PLAIN_ONLY)

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

#endif

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
#if !defined(DIMWISE_PLAIN_ONLY)
  if constexpr (has_back_kernel<How>) {
    if (r.has_kernels && !w.cx.reference_forced() && rows_back_fit(all.inside)) {
      note(w, plan_kind::rows, r);
      if (w.computes()) { run_rows_back<How>(w.cx, all, to.data, g.data, x.data, epsilon); }
      return;
    }
  }
#endif
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

// The loops over what a view has read: of its operand with this layout, and of what arrives.
struct view_loops {
  std::ptrdiff_t first;  // of the operand's elements that are read
  kernels::loop_nest<2> nest;
};
template <class C>
view_loops view_loops_of(const record<C>& r, operand_layout to, const axis* g) {
  const auto& facts = r.template facts_as<view_back_facts>();
  const name_list names = facts.read->axes;
  axis extents[max_rank];
  facts.read->write_extents(r.mask, extents);
  take_step(to, facts.view, static_cast<std::size_t>(r.index), r.shape->axes, names, extents);
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
#if !defined(DIMWISE_PLAIN_ONLY)
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
#endif
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

#if DIMWISE_DETAIL_HAS_LIBRARY
#define DIMWISE_DETAIL_COMPILED_OF(function, How)                                 \
  template void function<float, How>(walk&, const record<float>&, target<float>); \
  template void function<double, How>(walk&, const record<double>&, target<double>);
#define DIMWISE_DETAIL_COMPILED_none(function, How)
#define DIMWISE_DETAIL_COMPILED_formula(function, How)
#define DIMWISE_DETAIL_COMPILED_operand(function, How) DIMWISE_DETAIL_COMPILED_OF(function, How)
#define DIMWISE_DETAIL_COMPILED_result(function, How) DIMWISE_DETAIL_COMPILED_OF(function, How)
#define DIMWISE_DETAIL_COMPILED_ROW(word, text, reads) DIMWISE_DETAIL_COMPILED_##reads(write_rows_back, rows::word)
#define DIMWISE_DETAIL_COMPILED_TOTAL(word, text, reads) DIMWISE_DETAIL_COMPILED_##reads(write_total_back, totals::word)
DIMWISE_DETAIL_ROWS(DIMWISE_DETAIL_COMPILED_ROW)
DIMWISE_DETAIL_COMPILED_OF(write_rows_back, rows::sort<false>)
DIMWISE_DETAIL_COMPILED_OF(write_rows_back, rows::sort<true>)
DIMWISE_DETAIL_TOTALS(DIMWISE_DETAIL_COMPILED_TOTAL)
#undef DIMWISE_DETAIL_COMPILED_TOTAL
#undef DIMWISE_DETAIL_COMPILED_ROW
#undef DIMWISE_DETAIL_COMPILED_result
#undef DIMWISE_DETAIL_COMPILED_operand
#undef DIMWISE_DETAIL_COMPILED_formula
#undef DIMWISE_DETAIL_COMPILED_none
#undef DIMWISE_DETAIL_COMPILED_OF
template void write_chained<float>(walk&, const record<float>&, target<float>);
template void write_chained<double>(walk&, const record<double>&, target<double>);
template void write_view_back<float>(walk&, const record<float>&, target<float>);
template void write_view_back<double>(walk&, const record<double>&, target<double>);
#endif

}  // namespace dimwise::detail
