// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/nodes.hpp -- the facts of a node's type in its record: its shape, its masks and biases, and the
// evaluation of a foreign node.
//
// Layer: eval.
// Tests: tests/eval/records.test.cpp
#pragma once

#include <dimwise/eval/loops/elements.hpp>
#include <dimwise/eval/loops/positions.hpp>
#include <dimwise/eval/lowering/masks.hpp>
#include <dimwise/eval/recorded.hpp>
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/attention/scores.hpp>
#include <dimwise/eval/records/attention.hpp>
#endif

namespace dimwise::detail {

// ---- shapes --------------------------------------------------------------------------------------------------------

template <class Axes, class Extents>
void write_extents_of(const void* extents, axis* to) {
  axis_extents<Axes>::write(*static_cast<const Extents*>(extents), to);
}
template <class Axes>
inline constexpr bool has_sources = Axes::size == 0 || axis_extents<Axes>::in_slots;
template <class Axes>
struct facts_of_axes;
template <class... A>
struct facts_of_axes<list<A...>> {
  static constexpr axis_facts at[] = {{A::abilities, is_composite<A>}..., {}};
};
template <class Axes, class Extents, bool Masked>
inline constexpr record_shape record_shape_of = {name_list_of<Axes>, facts_of_axes<Axes>::at, nullptr,
                                                 &write_extents_of<Axes, Extents>, Masked};
template <class Axes, class Extents, bool Masked>
  requires has_sources<Axes>
inline constexpr record_shape record_shape_of<Axes, Extents, Masked> = {
    name_list_of<Axes>, facts_of_axes<Axes>::at, axis_extents<Axes>::template sources<typename Extents::slotted>,
    nullptr, Masked};

// The records of a formula: the next one is free.
template <class C>
struct record_stack {
  record<C>* next;
};

// The adjoint of a node (grad/operations/send.hpp).
template <class C, class N>
struct sender_of;
template <class C, class N, bool Tracked = is_tracked<N>>
inline constexpr adjoint_function<C>* sender_for = nullptr;
template <class C, class N>
inline constexpr adjoint_function<C>* sender_for<C, N, true> = sender_of<C, N>::value;

// What is the same for all nodes of a type.
template <class C>
struct record_constants {
  const record_shape* shape;
  const char* name;
  kernels::left_out leaves_out;
  bool is_float;
  bool has_kernels;
  adjoint_function<C>* send;
  bool (*has_origin)(const void* node, std::uint64_t record);
};
// Of a tracked node that computes itself (grad/operations/send.hpp).
template <class N>
struct origins_below;
template <class N, bool Asked>
inline constexpr bool (*origins_of)(const void*, std::uint64_t) = nullptr;
template <class N>
inline constexpr bool (*origins_of<N, true>)(const void*, std::uint64_t) = &origins_below<N>::any;
template <class C, class N>
inline constexpr record_constants<C> constants_of = {
    &record_shape_of<axes_for<shape_of<N>>, extents_type_of<N>, is_masked<N>>,
    name_of_operation<operation_of<N>>,
    leaves_out<N>,
    std::is_same_v<untracked_t<value_of<N>>, float>,
    has_kernels_for<C, N>,
    sender_for<C, N>,
    origins_of<N, is_tracked<N> && !is_recorded<N> && !is_tensor<N>>};
// The bias that N adds.
template <class N>
struct bias_of;
template <class C, class N, class B = element_t<1, children_t<N>>>
inline constexpr record_constants<C> constants_of_bias = {&record_shape_of<bias_axes<B>, extents_type_of<N>, false>,
                                                          B::name,
                                                          kernels::left_out::nothing,
                                                          true,
                                                          false,
                                                          sender_for<C, bias_of<N>, is_tracked<B>>,
                                                          origins_of<B, is_tracked<B>>};

// The next record. Members that no operation of its kind reads stay undetermined: records are formed for each
// evaluation. `slots` are those of the extents. Not inlined in linked programs: each type of node forms one.
template <class C>
record<C>& next_record(record_stack<C>& all, const record_constants<C>& constants, const void* node, const void* slots,
                       const void* extents);
template <class C, class Extents>
[[gnu::always_inline]] inline record<C>& next_record(record_stack<C>& all, const record_constants<C>& constants,
                                                     const void* node, const Extents& e) {
  return next_record(all, constants, node, e.slots(), &e);
}

// ---- foreign nodes -------------------------------------------------------------------------------------------------

template <class C, class Pass, class N>
lowered<C> read_foreign(walk& w, const record<C>& r, [[maybe_unused]] bool as_weights) {
  Pass pass = pass_of<Pass>(w);
  const N& n = *static_cast<const N*>(r.node);
  if constexpr (gives_hidden_weights<N> || may_give_hidden_weights<N>) {
    if (as_weights) { return read<C, true>(pass, n); }
  }
  return read<C>(pass, n);
}
template <class C, class Pass, class N>
void write_foreign(walk& w, const record<C>& r, target<C> to) {
  Pass pass = pass_of<Pass>(w);
  write<C>(pass, *static_cast<const N*>(r.node), to);
}
namespace records {
template <class C, class Pass, class N>
inline constexpr record_operation<C> foreign = {is_stored_node<N> ? record_kind::stored : record_kind::foreign,
                                                &read_foreign<C, Pass, N>, &write_foreign<C, Pass, N>};
}  // namespace records

// ---- masks and biases ----------------------------------------------------------------------------------------------

template <class Pass, class M, class Extents>
lowered<bool> read_foreign_mask(walk& w, const void* m, const void* extents) {
  Pass pass = pass_of<Pass>(w);
  return read_mask(pass, *static_cast<const M*>(m), *static_cast<const Extents*>(extents));
}
#if defined(DIMWISE_PLAIN_ONLY)
template <class Pass, class M, class Extents>
inline constexpr mask_facts_of_record mask_facts_for = {
    name_list_of<mask_axes<M>>, {}, &read_foreign_mask<Pass, M, Extents>, nullptr};
#else
template <class Pass, class M, class Extents>
void take_foreign_mask(const mask_sink& to, walk& w, const void* m, const void* extents) {
  take_mask<Pass>(to, w, *static_cast<const M*>(m), *static_cast<const Extents*>(extents));
}
template <class Pass, class M, class Extents>
inline constexpr mask_facts_of_record mask_facts_for = {name_list_of<mask_axes<M>>, mask_sort<M>::counts,
                                                        &read_foreign_mask<Pass, M, Extents>,
                                                        &take_foreign_mask<Pass, M, Extents>};
#endif

// An operand that says where others are taken from.
template <class C, class Pass, class M>
lowered<bool> read_condition(walk& w, const void* m, const void*) {
  Pass pass = pass_of<Pass>(w);
  return read<C>(pass, *static_cast<const M*>(m));
}
template <class C, class Pass, class M, class Extents>
inline constexpr mask_facts_of_record condition_facts_for = {
    name_list_of<child_axes<M>>, {}, &read_condition<C, Pass, M>, nullptr};
template <class C, class Pass, mask M, class Extents>
inline constexpr mask_facts_of_record condition_facts_for<C, Pass, M, Extents> = mask_facts_for<Pass, M, Extents>;

template <class C, class Pass, class B, class Extents>
lowered<C> read_foreign_bias(walk& w, const record<C>& r, bool) {
  Pass pass = pass_of<Pass>(w);
  return read_bias<C>(pass, *static_cast<const B*>(r.node), *static_cast<const Extents*>(r.node_extents));
}
template <class B, class Extents>
inline constexpr bias_facts_of_record facts_of_bias = {nullptr};
template <class B, class Extents>
void slopes_of_bias(const void* bias, const void* extents, slopes_of_record& to) {
  const B& b = *static_cast<const B*>(bias);
  const Extents& e = *static_cast<const Extents*>(extents);
  using H = typename B::heads;
  using axes = axes_for<shape<H>>;
  to.axes = name_list_of<axes>;
  axis_extents<axes>::write_contiguous(e, to.at);
  to.heads = e.template extent<H>();
  to.distance = b.key_origin(e, B::name) - b.query_origin(e, B::name);
}
template <class Q, class K, class H, class Extents>
  requires(position_step<Q> == 1 && position_step<K> == 1)
inline constexpr bias_facts_of_record facts_of_bias<alibi<Q, K, H>, Extents> = {
    &slopes_of_bias<alibi<Q, K, H>, Extents>};
namespace records {
template <class C, class Pass, class B, class Extents>
inline constexpr record_operation<C> bias = {record_kind::bias, &read_foreign_bias<C, Pass, B, Extents>, nullptr};
}  // namespace records

}  // namespace dimwise::detail
