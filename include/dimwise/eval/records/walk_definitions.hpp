// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/walk_definitions.hpp -- records as memory: leaves, numbers, views, and what becomes a buffer.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/eval/records.test.cpp
#pragma once

#include <dimwise/eval/lowering/views_definitions.hpp>
#include <dimwise/eval/plan/steps.hpp>
#include <dimwise/eval/records/nodes.hpp>

namespace dimwise::detail {

template <class C>
record<C>& next_record(record_stack<C>& all, const record_constants<C>& constants, const void* node, const void* slots,
                       const void* extents) {
  record<C>& r = *all.next++;
  r.shape = constants.shape;
  r.extents = constants.shape->sources == nullptr ? extents : slots;
  r.name = constants.name;
  r.node = node;
  r.node_extents = extents;
  r.leaves_out = constants.leaves_out;
  r.is_float = constants.is_float;
  r.has_kernels = constants.has_kernels;
  r.send = constants.send;
  r.has_origin = constants.has_origin;
  return r;
}

// Counts what runs, or adds it to the plan; `words` are asked of a plan alone.
template <class C, class Words>
void note(walk& w, plan_kind kind, const record<C>& r, const Words& words) {
  if (w.computes()) {
    w.cx.count(kind);
  } else {
    w.plan->add({kind, words(), r.describe(r.described)});
  }
}
template <class C>
void note(walk& w, plan_kind kind, const record<C>& r) {
  note(w, kind, r, [&] { return std::string(r.name); });
}

// Whether `r` is computed by a kernel, one that takes its layouts, instead of the reference loops.
template <class C>
bool runs_kernel(walk& w, const record<C>& r, plan_kind kind, bool fits) {
  if (!fits || !r.has_kernels || w.cx.reference_forced()) { return false; }
  note(w, kind, r);
  return true;
}

// The loops over a result and its operands.
template <std::size_t K>
kernels::loop_nest<1 + K> nest_by_names(name_list result, const axis* to, const name_list (&names)[K],
                                        const axis* const (&from)[K]) {
  std::ptrdiff_t strides[1 + K][max_rank];
  for (std::size_t i = 0; i < result.size; ++i) { strides[0][i] = to[i].stride; }
  for (std::size_t k = 0; k < K; ++k) { align_names(result, names[k], from[k], strides[1 + k]); }
  return nest_over(result.size, to, strides);
}
// The same of its children, which are in memory.
template <class C, class... X>
kernels::loop_nest<1 + sizeof...(X)> nest_of_children(const record<C>& r, const axis* to, const X&... x) {
  std::size_t k = 0;
  const axis* const from[] = {x.axes...};
  const name_list names[] = {(static_cast<void>(x), r.child[k++]->shape->axes)...};
  return nest_by_names(r.shape->axes, to, names, from);
}

// The memory of a value, row-major.
template <class C>
lowered<C> make_buffer(walk& w, const record<C>& r) {
  lowered<C> buffer;
  r.write_extents(buffer.axes);
  make_contiguous(buffer.axes, r.rank());
  if (w.computes()) {
    buffer.buffer.resize(checked_size_of(buffer.axes, r.rank(), r.shape->axes.at, sizeof(C), "evaluate"));
    buffer.data = buffer.buffer.data();
  }
  return buffer;
}

template <class C>
lowered<C> read_record(walk& w, const record<C>& r, bool as_weights) {
  if (r.operation->read != nullptr) { return r.operation->read(w, r, as_weights); }
  lowered<C> buffer = make_buffer(w, r);
  target<C> to = target_of(buffer);
  if (as_weights && r.leaves_out == kernels::left_out::hidden) { to.hidden = C(-0.0); }
  r.operation->write(w, r, to);
  return buffer;
}

template <class C>
void write_record(walk& w, const record<C>& r, target<C> to) {
  if (r.operation->write != nullptr) { return r.operation->write(w, r, to); }
  const auto x = read_record(w, r);
  note(w, plan_kind::copy, r, [] { return std::string("copy"); });
  if (w.computes()) { copy_axes<C>(r.rank(), x.axes, to.axes, x.axes, to.data, x.data); }
}

template <class C>
lowered<C> read_shared_leaf(walk& w, const record<C>& r, bool) {
  lowered<C> x;
  if (w.computes() && r.shape->sources != nullptr) {
    read_shared(x, r.shape->sources, r.rank(), static_cast<const slot*>(r.extents),
                *static_cast<const shared_storage<C>*>(r.node));
  } else {
    r.write_extents(x.axes);
    make_contiguous(x.axes, r.rank());
    if (w.computes()) { x.data = static_cast<const shared_storage<C>*>(r.node)->read(); }  // of a gradient
  }
  return x;
}

template <class C>
void write_number(walk& w, const record<C>& r, target<C> to) {
  if (w.computes()) { *to.data = static_cast<C>(r.number); }
}

template <class C>
lowered<C> read_view(walk& w, const record<C>& r, bool as_weights) {
  auto x = read_record(w, *r.child[0], as_weights);
  const auto& facts = r.template facts_as<view_facts>();
  const name_list from = r.child[0]->shape->axes;
  if (needs_dense(facts, x.axes)) { make_dense(x, from); }
  axis result[max_rank];
  r.write_extents(result);
  take_step(x, facts, static_cast<std::size_t>(r.index), from, r.shape->axes, result);
  x.move_to_first();
  return x;
}

// The instances of a function that computes records.
#if DIMWISE_DETAIL_HAS_LIBRARY
#define DIMWISE_DETAIL_COMPILED(function, ...)                                                          \
  template void function<float __VA_OPT__(, ) __VA_ARGS__>(walk&, const record<float>&, target<float>); \
  template void function<double __VA_OPT__(, ) __VA_ARGS__>(walk&, const record<double>&, target<double>);
#else
#define DIMWISE_DETAIL_COMPILED(function, ...)
#endif

#if DIMWISE_DETAIL_HAS_LIBRARY
#define DIMWISE_DETAIL_COMPILED_IN(C)                                                                        \
  template record<C>& next_record<C>(record_stack<C>&, const record_constants<C>&, const void*, const void*, \
                                     const void*);                                                           \
  template lowered<C> read_record<C>(walk&, const record<C>&, bool);                                         \
  template void write_record<C>(walk&, const record<C>&, target<C>);                                         \
  template lowered<C> read_shared_leaf<C>(walk&, const record<C>&, bool);                                    \
  template void write_number<C>(walk&, const record<C>&, target<C>);                                         \
  template lowered<C> read_view<C>(walk&, const record<C>&, bool);
DIMWISE_DETAIL_COMPILED_IN(float)
DIMWISE_DETAIL_COMPILED_IN(double)
#undef DIMWISE_DETAIL_COMPILED_IN
#endif

}  // namespace dimwise::detail
