// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/elements_definitions.hpp -- functions, arithmetic, masks and biases, element by element.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/eval/plan/plan.test.cpp, tests/eval/plan/operations.test.cpp
#pragma once

#include <dimwise/eval/kernels/elements.hpp>
#include <dimwise/eval/loops/element_loops.hpp>
#include <dimwise/eval/records/products_definitions.hpp>
#include <dimwise/eval/records/rows_definitions.hpp>

namespace dimwise::detail {

// Functions and arithmetic together with the product or the norm below, where a kernel takes them.
template <class C>
bool fused_elements(walk& w, const record<C>& r, target<C> to) {
  if constexpr (kernels::available && std::is_same_v<C, float>) {
    return r.has_kernels && !w.cx.reference_forced() && (norm_and_finish(w, r, to) || product_and_finish(w, r, to));
  } else {
    return false;
  }
}

// `kernel(table, n, offsets, steps)` for each part of the elements; false where it does not take their layouts.
template <class C, std::size_t K, class Kernel>
bool elements_by_kernel(walk& w, const record<C>& r, const kernels::loop_nest<K>& nest, const bool* any_step,
                        std::size_t part, const Kernel& kernel) {
  if (!runs_kernel(w, r, plan_kind::map, elements_fit(nest, any_step))) { return false; }
  if constexpr (kernels::available) {
    if (!w.computes()) { return true; }
    const auto& table = kernels::active_for<C>();
    run_parts(w.cx, nest, part,
              [&](std::size_t n, const std::ptrdiff_t* at, const std::ptrdiff_t* step) { kernel(table, n, at, step); });
  }
  return true;
}

template <class C>
void write_unary(walk& w, const record<C>& r, target<C> to) {
  if (fused_elements(w, r, to)) { return; }
  const auto x = read_record(w, *r.child[0]);
  const auto nest = nest_of_children(r, to.axes, x);
  const auto f = static_cast<kernels::function>(r.index);
  if (elements_by_kernel(w, r, nest, no_any_step, part_elements,
                         [&](const auto& table, std::size_t n, const auto* at, const auto*) {
    table.map(f, n, x.data + at[1], to.data + at[0]);
  })) {
    return;
  }
  note(w, plan_kind::plain, r);
  if (w.computes()) { unary_loops(f, nest, r.child[0]->shape->masked, to.data, x.data); }
}

template <class C>
void write_binary(walk& w, const record<C>& r, target<C> to) {
  if (fused_elements(w, r, to)) { return; }
  const auto a = read_record(w, *r.child[0]);
  const auto b = read_record(w, *r.child[1]);
  const auto nest = nest_of_children(r, to.axes, a, b);
  const auto f = static_cast<kernels::operation>(r.index);
  const bool a_masked = r.child[0]->shape->masked;
  const bool b_masked = r.child[1]->shape->masked;
  if (elements_by_kernel(w, r, nest, no_any_step, a_masked || b_masked ? cached_part : part_elements,
                         [&](const auto& table, std::size_t n, const auto* at, const auto* step) {
    C* const out = to.data + at[0];
    table.zip(f, n, a.data + at[1], step[1], b.data + at[2], step[2], out);
    if (a_masked) { table.zip(kernels::operation::hide, n, out, 1, a.data + at[1], step[1], out); }
    if (b_masked) { table.zip(kernels::operation::hide, n, out, 1, b.data + at[2], step[2], out); }
  })) {
    return;
  }
  note(w, plan_kind::plain, r);
  if (w.computes()) { binary_loops(f, nest, a_masked, b_masked, to.data, a.data, b.data); }
}

template <class C>
void write_function(walk& w, const record<C>& r, target<C> to) {
  const auto x = read_record(w, *r.child[0]);
  note(w, plan_kind::plain, r);
  if (!w.computes()) { return; }
  r.template facts_as<function_facts<C>>().loop(nest_of_children(r, to.axes, x), r.mask, to.data, x.data);
}

template <class C, class To>
void round_into(walk& w, const record<C>& r, const lowered<C>& x, target<C> to) {
  note(w, plan_kind::plain, r);
  if (!w.computes()) { return; }
  unary_loop<C, fn::rounded<To>>(nest_of_children(r, to.axes, x), r.child[0]->shape->masked, to.data, x.data);
}
template <class C, class To>
void write_rounded(walk& w, const record<C>& r, target<C> to) {
  round_into<C, To>(w, r, read_record(w, *r.child[0]), to);
}
template <class C, class To>
lowered<C> read_rounded(walk& w, const record<C>& r, bool as_weights) {
  auto x = read_record(w, *r.child[0], as_weights);
  if (as_weights && (x.hides || r.leaves_out == kernels::left_out::hidden)) {  // −0 stays −0
    note(w, plan_kind::plain, r);
    if (x.buffer.empty()) { make_dense(x, r.shape->axes); }  // an `expr` may hold a tensor
    for (C& weight : x.buffer) { weight = fn::rounded<To>{}(weight); }
    return x;
  }
  lowered<C> buffer = make_buffer(w, r);
  round_into<C, To>(w, r, x, target_of(buffer));
  return buffer;
}

template <class C>
void write_masked(walk& w, const record<C>& r, target<C> to) {
  const auto x = read_record(w, *r.child[0]);
  const auto visible = r.mask_facts->read(w, r.mask, r.node_extents);
  const auto nest =
      nest_by_names<2>(r.shape->axes, to.axes, {r.child[0]->shape->axes, r.mask_facts->axes}, {x.axes, visible.axes});
  static constexpr bool any_step_of_mask[] = {false, true};
  if (elements_by_kernel(w, r, nest, any_step_of_mask, cached_part,
                         [&](const auto& table, std::size_t n, const auto* at, const auto* step) {
    constexpr C hidden = kernels::minus_infinity<C>;
    table.choose(n, visible.data + at[2], step[2], x.data + at[1], step[1], &hidden, 0, to.data + at[0]);
  })) {
    return;
  }
  note(w, plan_kind::plain, r);
  if (w.computes()) { element_loop(nest, to.data, visible_or_hidden{}, x.data, visible.data); }
}

template <class C>
void write_biased(walk& w, const record<C>& r, target<C> to) {
  const auto x = read_record(w, *r.child[0]);
  const auto bias = read_record(w, *r.child[1]);
  const auto nest = nest_of_children(r, to.axes, x, bias);
  const bool masked = r.child[0]->shape->masked;
  if (elements_by_kernel(w, r, nest, no_any_step, cached_part,
                         [&](const auto& table, std::size_t n, const auto* at, const auto* step) {
    C* const out = to.data + at[0];
    table.zip(kernels::operation::add, n, x.data + at[1], step[1], bias.data + at[2], step[2], out);
    if (masked) { table.zip(kernels::operation::hide, n, out, 1, x.data + at[1], step[1], out); }
    // A bias of −∞ hides whatever the score is.
    table.zip(kernels::operation::hide, n, out, 1, bias.data + at[2], step[2], out);
  })) {
    return;
  }
  note(w, plan_kind::plain, r);
  if (!w.computes()) { return; }
  if (masked) {
    element_loop(nest, to.data, biased_element<C, true>{}, x.data, bias.data);
  } else {
    element_loop(nest, to.data, biased_element<C, false>{}, x.data, bias.data);
  }
}

// A square is a power by the number 2.
template <class C>
void write_power(walk& w, const record<C>& r, target<C> to) {
  const auto x = read_record(w, *r.child[0]);
  const auto y = read_record(w, *r.child[1]);
  const auto nest = nest_of_children(r, to.axes, x, y);
  const bool squares = r.child[1]->kind() == record_kind::number && r.child[1]->number == 2;
  if (squares && elements_by_kernel(w, r, nest, no_any_step, part_elements,
                                    [&](const auto& table, std::size_t n, const auto* at, const auto* step) {
    const C* const from = x.data + at[1];
    if (step[1] == 1) { return table.map(kernels::function::square, n, from, to.data + at[0]); }
    table.zip(kernels::operation::multiply, n, from, step[1], from, step[1], to.data + at[0]);
  })) {
    return;
  }
  note(w, plan_kind::plain, r);
  if (w.computes()) { element_loop(nest, to.data, fn::pow{}, x.data, y.data); }  // no operand is masked (R7)
}

template <class C>
void write_clamped(walk& w, const record<C>& r, target<C> to) {
  const auto x = read_record(w, *r.child[0]);
  const auto low = read_record(w, *r.child[1]);
  const auto high = read_record(w, *r.child[2]);
  const auto nest = nest_of_children(r, to.axes, x, low, high);
  if (elements_by_kernel(w, r, nest, no_any_step, cached_part,
                         [&](const auto& table, std::size_t n, const auto* at, const auto* step) {
    C* const out = to.data + at[0];
    table.zip(kernels::operation::max, n, x.data + at[1], step[1], low.data + at[2], step[2], out);
    table.zip(kernels::operation::min, n, out, 1, high.data + at[3], step[3], out);
  })) {
    return;
  }
  note(w, plan_kind::plain, r);
  if (w.computes()) { element_loop(nest, to.data, fn::clamp{}, x.data, low.data, high.data); }
}

template <class C>
void write_chosen(walk& w, const record<C>& r, target<C> to) {
  const auto first = r.mask_facts->read(w, r.mask, r.node_extents);
  const C number = static_cast<C>(r.number);
  name_list names[] = {r.mask_facts->axes, {nullptr, 0}, {nullptr, 0}};
  const auto operand = [&](std::size_t k) {
    if (r.child[k] != nullptr) {
      names[1 + k] = r.child[k]->shape->axes;
      return read_record(w, *r.child[k]);
    }
    lowered<C> x;
    x.data = &number;
    return x;
  };
  const auto a = operand(0);
  const auto b = operand(1);
  const auto nest = nest_by_names<3>(r.shape->axes, to.axes, names, {first.axes, a.axes, b.axes});
  static constexpr bool any_step_of_condition[] = {true, false, false};
  if (elements_by_kernel(w, r, nest, any_step_of_condition, cached_part,
                         [&](const auto& table, std::size_t n, const auto* at, const auto* step) {
    table.choose(n, first.data + at[1], step[1], a.data + at[2], step[2], b.data + at[3], step[3], to.data + at[0]);
  })) {
    return;
  }
  note(w, plan_kind::plain, r);
  if (w.computes()) { element_loop(nest, to.data, fn::choose{}, first.data, a.data, b.data); }
}

DIMWISE_DETAIL_COMPILED(write_unary)
DIMWISE_DETAIL_COMPILED(write_binary)
DIMWISE_DETAIL_COMPILED(write_function)
DIMWISE_DETAIL_COMPILED(write_rounded, bfloat16)
DIMWISE_DETAIL_COMPILED(write_rounded, float16)
DIMWISE_DETAIL_COMPILED(write_masked)
DIMWISE_DETAIL_COMPILED(write_biased)
DIMWISE_DETAIL_COMPILED(write_power)
DIMWISE_DETAIL_COMPILED(write_clamped)
DIMWISE_DETAIL_COMPILED(write_chosen)
#if DIMWISE_DETAIL_HAS_LIBRARY
template lowered<float> read_rounded<float, bfloat16>(walk&, const record<float>&, bool);
template lowered<float> read_rounded<float, float16>(walk&, const record<float>&, bool);
template lowered<double> read_rounded<double, bfloat16>(walk&, const record<double>&, bool);
template lowered<double> read_rounded<double, float16>(walk&, const record<double>&, bool);
#endif

}  // namespace dimwise::detail
