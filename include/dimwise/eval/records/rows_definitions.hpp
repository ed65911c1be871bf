// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/rows_definitions.hpp -- rows and reductions, and norms with their factors.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/eval/plan/plan.test.cpp, tests/eval/plan/operations.test.cpp
#pragma once

#include <dimwise/eval/kernels/rows.hpp>
#include <dimwise/eval/loops/rows.hpp>
#include <dimwise/eval/records/walk_definitions.hpp>
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/kernels/epilogue.hpp>
#endif

namespace dimwise::detail {

// The loops outside the rows of an operand, and inside them.
inline row_loops loops_over(name_list over, name_list result, const axis* to, name_list operand, const axis* from) {
  row_loops loops;
  const auto stride = [&](name_of name) {
    const short place = result.place_of(name);
    return place < 0 ? 0 : to[place].stride;
  };
  for (std::size_t i = 0; i < operand.size; ++i) {
    if (over.place_of(operand.at[i]) < 0) {
      loops.outside.add(from[i].extent, {stride(operand.at[i]), from[i].stride});
    }
  }
  for (const name_of name : over) {
    const axis& along = from[operand.place_of(name)];
    loops.inside.add(along.extent, {stride(name), along.stride});
  }
  return loops;
}
template <class C>
row_loops loops_over(const record<C>& r, const axis* to, const axis* from) {
  return loops_over(r.template facts_as<name_list>(), r.shape->axes, to, r.child[0]->shape->axes, from);
}

template <class C, class How>
void write_rows(walk& w, const record<C>& r, target<C> to) {
  const auto x = read_record(w, *r.child[0]);
  const row_loops loops = loops_over(r, to.axes, x.axes);
  const auto epsilon = static_cast<C>(r.number);
  if constexpr (kernels::available && has_row_kernel<How>) {
    if (runs_kernel(w, r, plan_kind::rows, rows_fit(loops))) {
      if (w.computes()) { run_rows<How>(w.cx, loops, to.data, x.data, to.hidden, epsilon); }
      return;
    }
  }
  note(w, plan_kind::plain, r);
  if (w.computes()) { row_by_row<How>(loops, to.data, x.data, to.hidden, epsilon); }
}

template <class C, class How>
void write_total(walk& w, const record<C>& r, target<C> to) {
  const auto x = read_record(w, *r.child[0]);
  const row_loops loops = loops_over(r, to.axes, x.axes);
  const bool masked = r.child[0]->shape->masked;
  if constexpr (kernels::available && total_code<How>.has_value()) {
    if (runs_kernel(w, r, plan_kind::rows, !masked && fold_fits(loops))) {
      if (w.computes()) { run_fold<How>(w.cx, loops, to.data, x.data); }
      return;
    }
  }
  note(w, plan_kind::plain, r);
  if (!w.computes()) { return; }
  if (masked) {
    fold_row_by_row<How, C, true>(loops, to.data, x.data);
  } else {
    fold_row_by_row<How, C, false>(loops, to.data, x.data);
  }
}

template <class C, class How>
void write_visible_total(walk& w, const record<C>& r, target<C> to) {
  const record<C>& masked = *r.child[0];
  const record<C>& operand = *masked.child[0];
  const auto x = read_record(w, operand);
  const auto visible = masked.mask_facts->read(w, masked.mask, masked.node_extents);
  note(w, plan_kind::plain, r);
  if (!w.computes()) { return; }
  const auto& over = r.template facts_as<name_list>();
  kernels::loop_nest<3> outside;
  kernels::loop_nest<2> inside;
  const axis none{0, 0};  // a dimension of the mask alone, or of the operand alone
  const auto axis_in = [&none](name_list names, const axis* axes, name_of name) -> const axis& {
    const short place = names.place_of(name);
    return place < 0 ? none : axes[place];
  };
  const auto in_operand = [&](name_of name) -> const axis& { return axis_in(operand.shape->axes, x.axes, name); };
  const auto in_mask = [&](name_of name) -> const axis& {
    return axis_in(masked.mask_facts->axes, visible.axes, name);
  };
  const auto extent = [&](name_of name) {
    return operand.shape->axes.place_of(name) < 0 ? in_mask(name).extent : in_operand(name).extent;
  };
  for (std::size_t i = 0; i < r.rank(); ++i) {
    const name_of name = r.shape->axes.at[i];
    outside.add(extent(name), {to.axes[i].stride, in_operand(name).stride, in_mask(name).stride});
  }
  for (const name_of name : over) { inside.add(extent(name), {in_operand(name).stride, in_mask(name).stride}); }
  each_of_three(outside, [&](std::ptrdiff_t t, std::ptrdiff_t f, std::ptrdiff_t v) {
    to.data[t] = total_of<How, C, C>([&](auto&& each) {
      std::size_t place = 0;
      kernels::for_each_element(inside, [&](std::ptrdiff_t g, std::ptrdiff_t u) {
        if (visible.data[v + u]) { each(x.data[f + g], place); }
        ++place;
      });
    });
  });
}

#if !defined(DIMWISE_PLAIN_ONLY)

// standardize(x) · gamma + beta, and the same of root mean squares.
struct norm_chain_of_records {
  const record<float>* norm = nullptr;
  const record<float>* gamma = nullptr;
  const record<float>* beta = nullptr;
};
// Whether `x` has one number for each element of a row.
inline bool is_for_rows(const record<float>& norm, const record<float>& x) {
  const auto& over = norm.facts_as<name_list>();
  return x.is_float && over.size == 1 && x.rank() == 1 && x.shape->axes.at[0] == over.at[0];
}
inline bool match_norm_chain(const record<float>& r, norm_chain_of_records& chain) {
  if (!r.is_float || r.kind() != record_kind::binary) { return false; }
  const record<float>& first = *r.child[0];
  const record<float>& second = *r.child[1];
  if (static_cast<kernels::operation>(r.index) == kernels::operation::multiply) {
    const bool is_norm = first.kind() == record_kind::standardize || first.kind() == record_kind::root_mean_square;
    if (!is_norm || !is_for_rows(first, second)) { return false; }
    chain.norm = &first;
    chain.gamma = &second;
    return true;
  }
  if (static_cast<kernels::operation>(r.index) != kernels::operation::add) { return false; }
  if (!match_norm_chain(first, chain) || chain.beta != nullptr || chain.norm->kind() != record_kind::standardize ||
      !is_for_rows(*chain.norm, second)) {
    return false;
  }
  chain.beta = &second;
  return true;
}

// Whether the kernel takes such rows: they are contiguous, and so are gamma and beta.
inline bool norm_fits(const row_loops& loops, const operand_layout& gamma, const operand_layout* beta) {
  return rows_fit(loops) && gamma.axes[0].stride == 1 && (beta == nullptr || beta->axes[0].stride == 1);
}

// A strategy; where the kernel does not take the rows, the reference loops run in the destination.
template <class How>
void normalise_and_finish(walk& w, const record<float>& r, const norm_chain_of_records& chain, target<float> to) {
  const record<float>& norm = *chain.norm;
  const auto x = read_record(w, *norm.child[0]);
  const auto gamma = read_record(w, *chain.gamma);
  lowered<float> beta;
  if (chain.beta != nullptr) { beta = read_record(w, *chain.beta); }
  const auto& over = norm.facts_as<name_list>();
  const row_loops loops = loops_over(over, r.shape->axes, to.axes, norm.child[0]->shape->axes, x.axes);
  if (loops.inside.empty()) { return; }
  const bool fits = norm_fits(loops, gamma, chain.beta != nullptr ? &beta : nullptr);
  note(w, fits ? plan_kind::rows : plan_kind::plain, r,
       [&] { return std::string(norm.name) + (chain.beta != nullptr ? ", times gamma, plus beta" : ", times gamma"); });
  if (!w.computes()) { return; }
  const auto epsilon = static_cast<float>(norm.number);
  if (fits) { return run_rows<How>(w.cx, loops, to.data, x.data, 0.0F, epsilon, gamma.data, beta.data); }
  row_by_row<How>(loops, to.data, x.data, 0.0F, epsilon);
  std::ptrdiff_t strides[max_rank] = {};
  align_names(r.shape->axes, over, gamma.axes, strides);
  update(r.rank(), to, strides, gamma.data, fn::multiply{});
  if (chain.beta != nullptr) {
    align_names(r.shape->axes, over, beta.axes, strides);
    update(r.rank(), to, strides, beta.data, fn::add{});
  }
}
inline bool norm_and_finish(walk& w, const record<float>& r, target<float> to) {
  norm_chain_of_records chain;
  if (!match_norm_chain(r, chain)) { return false; }
  if (chain.norm->kind() == record_kind::standardize) {
    normalise_and_finish<rows::standardize>(w, r, chain, to);
  } else {
    normalise_and_finish<rows::root_mean_square>(w, r, chain, to);
  }
  return true;
}

#endif

#define DIMWISE_DETAIL_COMPILED_ROW(word, ...) DIMWISE_DETAIL_COMPILED(write_rows, rows::word)
#define DIMWISE_DETAIL_COMPILED_TOTAL(word, ...)     \
  DIMWISE_DETAIL_COMPILED(write_total, totals::word) \
  DIMWISE_DETAIL_COMPILED(write_visible_total, totals::word)
DIMWISE_DETAIL_ROWS(DIMWISE_DETAIL_COMPILED_ROW)
DIMWISE_DETAIL_COMPILED(write_rows, rows::sort<false>)
DIMWISE_DETAIL_COMPILED(write_rows, rows::sort<true>)
DIMWISE_DETAIL_TOTALS(DIMWISE_DETAIL_COMPILED_TOTAL)
#undef DIMWISE_DETAIL_COMPILED_TOTAL
#undef DIMWISE_DETAIL_COMPILED_ROW

}  // namespace dimwise::detail
