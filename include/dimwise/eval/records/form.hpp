// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/form.hpp -- from nodes to records: all that is compiled for a node that the library evaluates.
//
// Layer: eval. A node without a record, a foreign one, becomes a record that calls its own evaluation.
// Tests: tests/eval/records.test.cpp
#pragma once

#include <dimwise/eval/kernels/codes.hpp>
#include <dimwise/eval/loops/positions.hpp>
#include <dimwise/eval/loops/product.hpp>
#include <dimwise/eval/lowering/masks.hpp>
#include <dimwise/eval/lowering/views.hpp>
#include <dimwise/eval/records/record.hpp>
#include <dimwise/expr/rows/sort.hpp>
#include <dimwise/kernels/dispatch/active.hpp>

#include <utility>

namespace dimwise::detail {

// Whether a node is computed by one of the operations of records, if no strategy takes it together with others.
template <class N>
inline constexpr bool has_operation = false;
template <class Shape, class How, class E>
inline constexpr bool has_operation<restride<Shape, How, E>> = is_float<E>;
template <class T>
inline constexpr bool has_operation<constant<T>> = real_element<T>;
template <class Shape, class Over, class A, class B>
inline constexpr bool has_operation<contraction<Shape, Over, A, B>> = is_float<A> && is_float<B>;
template <class Shape, class How, class Over, class E>
inline constexpr bool has_operation<rowwise<Shape, How, Over, E>> = is_float<E>;
template <class Shape, real_element T, class How, class Over, class E>
inline constexpr bool has_operation<reduction<Shape, T, How, Over, E>> = is_float<E>;
template <class Shape, real_element T, class How, class Over, class Inner, class E, class M>
inline constexpr bool has_operation<reduction<Shape, T, How, Over, masked_node<Inner, E, M>>> = false;
template <class Shape, real_element T, class F, class X>
inline constexpr bool has_operation<elementwise<Shape, T, F, X>> =
    is_float<X> && function_code<F> != kernels::function::none;
template <class Shape, real_element T, class F, class A, class B>
inline constexpr bool has_operation<elementwise<Shape, T, F, A, B>> =
    is_float<A> && is_float<B> && operation_code<F>.has_value();
template <class Shape, class E, class M>
inline constexpr bool has_operation<masked_node<Shape, E, M>> = is_float<E>;
template <class Shape, class E, class B>
inline constexpr bool has_operation<biased_node<Shape, E, B>> = is_float<E>;
template <class Shape, class E, class B>
inline constexpr bool has_operation<position_biased_node<Shape, E, B>> = is_float<E>;

// Nodes that a strategy takes together with nodes below them, by their types (eval/strategies.hpp).
template <class N>
inline constexpr bool is_fused_by_type = false;

template <class N>
  requires has_operation<N>
inline constexpr bool is_recorded<N> = !is_fused_by_type<N>;

// How many records a node needs, with those below.
template <class X>
inline constexpr std::size_t records_in = 1;
template <mask M>
inline constexpr std::size_t records_in<M> = 0;
template <class X>
inline constexpr std::size_t records_below = 0;
template <class Op, class Shape, class T, class... X>
inline constexpr std::size_t records_below<node<Op, Shape, T, X...>> = (records_in<X> + ... + 0);
template <class N>
  requires is_recorded<N>
inline constexpr std::size_t records_in<N> = 1 + records_below<N>;

template <class Pass>
[[gnu::always_inline]] inline walk walk_of(Pass& pass) {
  if constexpr (Pass::computes) {
    return {pass.cx, nullptr};
  } else {
    return {pass.cx, &pass.to};
  }
}
template <class Pass>
[[gnu::always_inline]] inline Pass pass_of(const walk& w) {
  if constexpr (Pass::computes) {
    return {w.cx};
  } else {
    return {w.cx, *w.plan};
  }
}

// ---- shapes ---------------------------------------------------------------------------------------------------------

template <class Axes, class Extents>
void write_extents_of(const void* extents, axis* to) {
  axis_extents<Axes>::write(*static_cast<const Extents*>(extents), to);
}
template <class Axes>
inline constexpr bool has_sources = Axes::size == 0 || axis_extents<Axes>::in_slots;
template <class Axes, class Extents, bool Masked>
inline constexpr record_shape record_shape_of = {name_list_of<Axes>, nullptr, &write_extents_of<Axes, Extents>, Masked};
template <class Axes, class Extents, bool Masked>
  requires has_sources<Axes>
inline constexpr record_shape record_shape_of<Axes, Extents, Masked> = {
    name_list_of<Axes>, axis_extents<Axes>::template sources<typename Extents::slotted>, nullptr, Masked};

template <class Axes, bool Masked, class C, class Extents>
[[gnu::always_inline]] inline void form_shape(record<C>& r, const Extents& e) {
  r.shape = &record_shape_of<Axes, Extents, Masked>;
  if constexpr (has_sources<Axes>) {
    r.extents = e.slots();
  } else {
    r.extents = &e;
  }
}

// ---- foreign nodes --------------------------------------------------------------------------------------------------

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
template <class C, class Pass, class B, class Extents>
lowered<C> read_foreign_bias(walk& w, const record<C>& r, bool) {
  Pass pass = pass_of<Pass>(w);
  return read_bias<C>(pass, *static_cast<const B*>(r.node), *static_cast<const Extents*>(r.facts));
}
template <class Pass, class M, class Extents>
lowered<bool> read_foreign_mask(walk& w, const void* m, const void* extents) {
  Pass pass = pass_of<Pass>(w);
  return read_mask(pass, *static_cast<const M*>(m), *static_cast<const Extents*>(extents));
}
namespace records {
template <class C, class Pass, class N>
inline constexpr record_operation<C> foreign = {&read_foreign<C, Pass, N>, &write_foreign<C, Pass, N>};
template <class C, class Pass, class B, class Extents>
inline constexpr record_operation<C> foreign_bias = {&read_foreign_bias<C, Pass, B, Extents>, nullptr};
}  // namespace records

// ---- operations -----------------------------------------------------------------------------------------------------

// The records of a formula: the next one is free.
template <class C>
struct record_stack {
  record<C>* next;
};

template <class Pass, class C, class X>
const record<C>* form_child(record_stack<C>& all, const X& x);

// Every step of an operation: how it is computed, its constant facts, its children.
template <class Pass, class C, class N, class How>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n,
                                                  const view_as<How>& op) {
  using E = child_t<N>;
  r.operation = &records::view<C>;
  r.facts = &facts_of_view<How, dims_t<shape_of<E>>>::value;
  r.index = static_cast<std::ptrdiff_t>(index_of_view(op.how, n.template child<0>().extents()));
  r.child[0] = form_child<Pass>(all, n.template child<0>());
}
template <class Pass, class C, class N, class T>
[[gnu::always_inline]] inline void form_operation(record_stack<C>&, record<C>& r, const N&, const number_of<T>& op) {
  r.operation = &records::number<C>;
  r.number = op.value;
}
template <class N, class Over>
inline constexpr product_facts_of_record facts_of_product = {name_list_of<product_result_t<N>>,
                                                             name_list_of<axes_of_list_t<Over>>, name_list_of<Over>};
template <class Pass, class C, class N, class Over>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n,
                                                  const product_over<Over>&) {
  r.operation = &records::product<C>;
  r.facts = &facts_of_product<N, Over>;
  r.child[0] = form_child<Pass>(all, n.template child<0>());
  r.child[1] = form_child<Pass>(all, n.template child<1>());
}
template <class Pass, class C, class N, class How, class Over>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n,
                                                  const rows_over<How, Over>& op) {
  r.operation = &records::rows<C, How>;
  r.facts = &name_list_of<axes_of_list_t<Over>>;
  r.number = op.epsilon;
  r.child[0] = form_child<Pass>(all, n.template child<0>());
}
template <class Pass, class C, class N, class How, class Over>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n,
                                                  const total_over<How, Over>&) {
  r.operation = &records::total<C, How>;
  r.facts = &name_list_of<axes_of_list_t<Over>>;
  r.child[0] = form_child<Pass>(all, n.template child<0>());
}
template <class Pass, class C, class N, class F>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n, const apply<F>&) {
  r.child[0] = form_child<Pass>(all, n.template child<0>());
  if constexpr (children_t<N>::size == 1) {
    r.operation = &records::unary<C>;
    r.index = static_cast<std::ptrdiff_t>(function_code<F>);
  } else {
    r.operation = &records::binary<C>;
    r.index = static_cast<std::ptrdiff_t>(*operation_code<F>);
    r.child[1] = form_child<Pass>(all, n.template child<1>());
  }
}
template <class Pass, class C, class N>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n, const hide&) {
  using M = element_t<1, children_t<N>>;
  r.operation = &records::masked<C>;
  r.child[0] = form_child<Pass>(all, n.template child<0>());
  r.mask = {&name_list_of<mask_axes<M>>, &read_foreign_mask<Pass, M, extents_type_of<N>>, &n.template child<1>(),
            &n.extents()};
}
template <class Pass, class C, class N>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n, const add_bias&) {
  r.operation = &records::biased<C>;
  r.child[0] = form_child<Pass>(all, n.template child<0>());
  r.child[1] = form_child<Pass>(all, n.template child<1>());
}
template <class Pass, class C, class N>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n,
                                                  const add_position_bias&) {
  using B = element_t<1, children_t<N>>;
  r.operation = &records::biased<C>;
  r.child[0] = form_child<Pass>(all, n.template child<0>());
  record<C>& bias = *all.next++;
  bias = record<C>{};
  bias.operation = &records::foreign_bias<C, Pass, B, extents_type_of<N>>;
  form_shape<bias_axes<B>, false>(bias, n.extents());
  bias.node = &n.template child<1>();
  bias.facts = &n.extents();
  r.child[1] = &bias;
}

// What is the same for all nodes.
template <class C, class N>
[[gnu::always_inline]] inline void form_node(record<C>& r, const N& n) {
  form_shape<axes_for<shape_of<N>>, is_masked<N>>(r, n.extents());
  r.node = &n;
  r.leaves_out = leaves_out<N>;
  r.may_hide = may_give_hidden_weights<N>;
  r.is_float = std::is_same_v<value_of<N>, float>;
  r.has_kernels = has_kernels_for<C, N>;
}

template <class N>
std::string describe_node(const void* node) {
  return in_words(shape_in_words(*static_cast<const N*>(node)));
}

// The record of a node with an operation. One function for each type of node.
template <class Pass, class C, class N>
const record<C>* form(record_stack<C>& all, const N& n) {
  record<C>& r = *all.next++;
  r = record<C>{};
  form_node(r, n);
  if constexpr (requires { operation_of<N>::name; }) { r.name = operation_of<N>::name; }
  if constexpr (!Pass::computes) { r.describe = &describe_node<N>; }
  form_operation<Pass>(all, r, n, n.op());
  return &r;
}

template <class X, class C>
concept shares_elements = axis_extents<axes_for<shape_of<X>>>::in_slots &&
                          requires(lowered<C>& to, const X& x) { read_shared(to, nullptr, 0, nullptr, x.handle()); };

template <class Pass, class C, class X>
const record<C>* form_child(record_stack<C>& all, const X& x) {
  if constexpr (is_recorded<X>) {
    return form<Pass>(all, x);
  } else {
    record<C>& r = *all.next++;
    r = record<C>{};
    form_node(r, x);
    if constexpr (is_leaf<X> && shares_elements<X, C>) {
      r.operation = &records::shared_leaf<C>;
      r.node = &x.handle();
    } else {
      r.operation = &records::foreign<C, Pass, X>;
    }
    return &r;
  }
}

// ---- nodes with a record, for the evaluation of others --------------------------------------------------------------

template <class C, class Pass, class N>
lowered<C> read_recorded(Pass& pass, const N& n, bool as_weights) {
  record<C> all[1 + records_below<N>];
  record_stack<C> stack{&all[0]};
  walk w = walk_of(pass);
  return read_record(w, *form<Pass>(stack, n), as_weights);
}
template <class C, class Pass, class N>
void write_recorded(Pass& pass, const N& n, target<C> to) {
  record<C> all[1 + records_below<N>];
  record_stack<C> stack{&all[0]};
  walk w = walk_of(pass);
  write_record(w, *form<Pass>(stack, n), to);
}

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/records/records_definitions.hpp>
#endif
