// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/form.hpp -- from nodes to records: all that is compiled for a node that the library evaluates.
//
// Layer: eval. A node without a record, a foreign one, becomes a record that calls its own evaluation.
// Tests: tests/eval/records.test.cpp
#pragma once

#include <dimwise/eval/kernels/codes.hpp>
#include <dimwise/eval/loops/elements.hpp>
#include <dimwise/eval/loops/positions.hpp>
#include <dimwise/eval/loops/product.hpp>
#include <dimwise/eval/lowering/masks.hpp>
#include <dimwise/eval/lowering/views.hpp>
#include <dimwise/eval/records/record.hpp>
#include <dimwise/eval/records/stored.hpp>
#include <dimwise/expr/rows/sort.hpp>
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/attention/scores.hpp>
#include <dimwise/eval/records/attention.hpp>
#endif

namespace dimwise::detail {

// Whether a node is computed by one of the operations of records.
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
template <class F>
inline constexpr std::ptrdiff_t rounding_code = -1;
template <>
inline constexpr std::ptrdiff_t rounding_code<fn::rounded<bfloat16>> = rounded_to_bfloat16;
template <>
inline constexpr std::ptrdiff_t rounding_code<fn::rounded<float16>> = rounded_to_float16;
template <class Shape, real_element T, class F, class X>
inline constexpr bool has_operation<elementwise<Shape, T, F, X>> =
    is_float<X> && (function_code<F> != kernels::function::none || rounding_code<F> >= 0);
template <class Shape, real_element T, class F, class A, class B>
inline constexpr bool has_operation<elementwise<Shape, T, F, A, B>> =
    is_float<A> && is_float<B> && operation_code<F>.has_value();
template <class Shape, real_element T, class X, class Y>
inline constexpr bool has_operation<elementwise<Shape, T, fn::pow, X, Y>> = is_float<X> && is_float<Y>;
template <class Shape, real_element T, class X, class Low, class High>
inline constexpr bool has_operation<elementwise<Shape, T, fn::clamp, X, Low, High>> =
    is_float<X> && is_float<Low> && is_float<High>;
template <class Shape, real_element T, class M, class A, class B>
inline constexpr bool has_operation<elementwise<Shape, T, fn::choose, M, A, B>> = is_float<A> && is_float<B>;
// What is sent to the argument of a function, to an operand of a choice, and to what a mask has hidden.
template <class F>
inline constexpr auto chained_code = kernels::function::none;
template <class F>
inline constexpr auto chained_code<fn::chain<F, 0>> = function_code<F>;
template <class Shape, real_element T, class F, class G, class X>
inline constexpr bool has_operation<elementwise<Shape, T, fn::chain<F, 0>, G, X>> =
    is_float<G> && is_float<X> && function_code<F> != kernels::function::none;
template <class Shape, real_element T, bool First, class M, class G>
inline constexpr bool has_operation<elementwise<Shape, T, fn::chosen_part<First>, M, G>> = is_float<G>;
template <class Shape, real_element T, class M, class G>
inline constexpr bool has_operation<elementwise<Shape, T, fn::visible_part, M, G>> = is_float<G>;
template <class Shape, class E, class M>
inline constexpr bool has_operation<masked_node<Shape, E, M>> = is_float<E>;
template <class Shape, class E, class B>
inline constexpr bool has_operation<biased_node<Shape, E, B>> = is_float<E>;
template <class Shape, class E, class B>
inline constexpr bool has_operation<position_biased_node<Shape, E, B>> = is_float<E>;

// User's functions of a number.
template <class Shape, class F, class X>
  requires(function_code<F> == kernels::function::none && rounding_code<F> < 0)
inline constexpr bool has_operation<elementwise<Shape, float, F, X>> =
    std::is_same_v<value_of<X>, float> && std::is_invocable_r_v<float, const F&, float>;

template <class N>
  requires has_operation<N>
inline constexpr bool is_recorded<N> = true;

// Functions whose first operand says where the others are taken from.
template <class F>
inline constexpr bool chooses =
    is_any_of<F, fn::choose, fn::chosen_part<true>, fn::chosen_part<false>, fn::visible_part>;

template <class E>
inline constexpr bool is_masked_node = false;
template <class Shape, class E, class M>
inline constexpr bool is_masked_node<masked_node<Shape, E, M>> = true;

// How many records a node needs, with those below.
template <class X>
inline constexpr std::size_t records_in = 1;
template <mask M>
inline constexpr std::size_t records_in<M> = 0;
template <class X>
inline constexpr std::size_t records_below = 0;
template <class Op, class Shape, class T, class... X>
inline constexpr std::size_t records_below<node<Op, Shape, T, X...>> = (records_in<X> + ... + 0);
template <class F, class Shape, class T, class M, class... X>
  requires chooses<F>
inline constexpr std::size_t records_below<node<apply<F>, Shape, T, M, X...>> = (records_in<X> + ...);
template <class How, class Over, class Shape, class T, class Inner, class E, class M>
inline constexpr std::size_t records_below<node<total_over<How, Over>, Shape, T, masked_node<Inner, E, M>>> =
    records_in<E>;
template <class N>
  requires is_recorded<N>
inline constexpr std::size_t records_in<N> = 1 + records_below<N>;

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

// What is the same for all nodes of a type.
struct record_constants {
  const record_shape* shape;
  const char* name;
  kernels::left_out leaves_out;
  bool is_float;
  bool has_kernels;
};
template <class C, class N>
inline constexpr record_constants constants_of = {
    &record_shape_of<axes_for<shape_of<N>>, extents_type_of<N>, is_masked<N>>, name_of_operation<operation_of<N>>,
    leaves_out<N>, std::is_same_v<value_of<N>, float>, has_kernels_for<C, N>};
template <class B, class Extents>
inline constexpr record_constants constants_of_bias = {&record_shape_of<bias_axes<B>, Extents, false>, B::name,
                                                       kernels::left_out::nothing, true, false};

// The next record. Members that no operation of its kind reads stay undetermined: records are formed for each
// evaluation.
template <class C, class Extents>
[[gnu::always_inline]] inline record<C>& next_record(record_stack<C>& all, const record_constants& constants,
                                                     const void* node, const Extents& e) {
  record<C>& r = *all.next++;
  r.shape = constants.shape;
  r.extents = constants.shape->sources == nullptr ? static_cast<const void*>(&e) : e.slots();
  r.name = constants.name;
  r.node = node;
  r.node_extents = &e;
  r.leaves_out = constants.leaves_out;
  r.is_float = constants.is_float;
  r.has_kernels = constants.has_kernels;
  return r;
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
inline constexpr record_operation<C> foreign = {record_kind::foreign, &read_foreign<C, Pass, N>,
                                                &write_foreign<C, Pass, N>};
template <class C, class Pass, class N>
inline constexpr record_operation<C> stored = {record_kind::stored, &read_foreign<C, Pass, N>,
                                               &write_foreign<C, Pass, N>};
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

// ---- operations ----------------------------------------------------------------------------------------------------

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
  using E = child_t<N>;
  r.facts = &name_list_of<axes_of_list_t<Over>>;
  if constexpr (is_masked_node<E>) {
    // The mask decides what is hidden, so a visible −∞ counts.
    const E& masked = n.template child<0>();
    r.operation = &records::visible_total<C, How>;
    r.mask_facts = &mask_facts_for<Pass, element_t<1, children_t<E>>, extents_type_of<E>>;
    r.mask = &masked.template child<1>();
    r.node_extents = &masked.extents();
    r.child[0] = form_child<Pass>(all, masked.template child<0>());
  } else {
    r.operation = &records::total<C, How>;
    r.child[0] = form_child<Pass>(all, n.template child<0>());
  }
}
// The loop over a function that the library does not know.
template <class C, class F, bool Masked>
void loop_of_function(const kernels::loop_nest<2>& nest, const void* f, C* to, const C* x) {
  using function = either_t<Masked && !fn::ends_mask<F>, kept_masked<C, F, Masked>, F>;
  element_loop(nest, to, function{*static_cast<const F*>(f)}, x);
}
#if defined(DIMWISE_PLAIN_ONLY)
template <class C, class F, bool Masked>
inline constexpr function_facts<C> facts_of_function = {&loop_of_function<C, F, Masked>, nullptr};
#else
template <class F>
void call_own_function(own_function& from, const void* f) {
  from.call(*static_cast<const F*>(f));
}
template <class C, class F, bool Masked>
inline constexpr function_facts<C> facts_of_function = {&loop_of_function<C, F, Masked>, &call_own_function<F>};
#endif

// A choice, of which the gradient has one operand and a number.
template <class Pass, class C, class N, class F>
  requires chooses<F>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n, const apply<F>&) {
  using M = child_t<N>;
  r.operation = &records::chosen<C>;
  r.mask_facts = &condition_facts_for<C, Pass, M, extents_type_of<N>>;
  r.mask = &n.template child<0>();
  r.child[0] = nullptr;
  r.child[1] = nullptr;
  if constexpr (std::is_same_v<F, fn::choose>) {
    r.number = 0;
    r.child[0] = form_child<Pass>(all, n.template child<1>());
    r.child[1] = form_child<Pass>(all, n.template child<2>());
  } else {
    r.number = F::otherwise;
    r.child[std::is_same_v<F, fn::chosen_part<false>> ? 1 : 0] = form_child<Pass>(all, n.template child<1>());
  }
}
template <class Pass, class C, class N, class F>
  requires(!chooses<F>)
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n, const apply<F>& op) {
  r.child[0] = form_child<Pass>(all, n.template child<0>());
  if constexpr (children_t<N>::size > 1) { r.child[1] = form_child<Pass>(all, n.template child<1>()); }
  if constexpr (std::is_same_v<F, fn::clamp>) {
    r.operation = &records::clamped<C>;
    r.child[2] = form_child<Pass>(all, n.template child<2>());
  } else if constexpr (std::is_same_v<F, fn::pow>) {
    r.operation = &records::power<C>;
  } else if constexpr (chained_code<F> != kernels::function::none) {
    r.operation = &records::chained<C>;
    r.index = static_cast<std::ptrdiff_t>(chained_code<F>);
  } else if constexpr (children_t<N>::size == 2) {
    r.operation = &records::binary<C>;
    r.index = static_cast<std::ptrdiff_t>(*operation_code<F>);
  } else if constexpr (function_code<F> != kernels::function::none) {
    r.operation = &records::unary<C>;
    r.index = static_cast<std::ptrdiff_t>(function_code<F>);
  } else if constexpr (rounding_code<F> >= 0) {
    using to = either_t<rounding_code<F> == rounded_to_bfloat16, bfloat16, float16>;
    r.operation = &records::rounded<C, to>;
    r.index = rounding_code<F>;
  } else {
    r.operation = &records::function<C>;
    r.facts = &facts_of_function<C, F, is_masked<child_t<N>>>;
    r.node = &op.f;
  }
}
template <class Pass, class C, class N>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n, const hide&) {
  r.operation = &records::masked<C>;
  r.child[0] = form_child<Pass>(all, n.template child<0>());
  r.mask_facts = &mask_facts_for<Pass, element_t<1, children_t<N>>, extents_type_of<N>>;
  r.mask = &n.template child<1>();
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
  using extents = extents_type_of<N>;
  r.operation = &records::biased<C>;
  r.child[0] = form_child<Pass>(all, n.template child<0>());
  record<C>& bias = next_record(all, constants_of_bias<B, extents>, &n.template child<1>(), n.extents());
  bias.operation = &records::bias<C, Pass, B, extents>;
  bias.facts = &facts_of_bias<B, extents>;
  r.child[1] = &bias;
}

template <class N>
std::string describe_node(const void* node) {
  return in_words(shape_in_words(*static_cast<const N*>(node)));
}

// The record of a node with an operation. One function for each type of node.
template <class Pass, class C, class N>
const record<C>* form(record_stack<C>& all, const N& n) {
  record<C>& r = next_record(all, constants_of<C, N>, &n, n.extents());
  if constexpr (!Pass::computes) {
    r.describe = &describe_node<N>;
    r.described = &n;
  }
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
    record<C>& r = next_record(all, constants_of<C, X>, &x, x.extents());
    if constexpr (is_leaf<X> && shares_elements<X, C>) {
      r.operation = &records::shared_leaf<C>;
      r.node = &x.handle();
    } else if constexpr (is_stored_node<X>) {
      r.operation = &records::stored<C, Pass, X>;
      r.facts = &stored_of_node<Pass, X>::value;
    } else {
      r.operation = &records::foreign<C, Pass, X>;
    }
    return &r;
  }
}

// ---- nodes with a record, for the evaluation of others -------------------------------------------------------------

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

#if !defined(DIMWISE_PLAIN_ONLY)
// A node as fused attention, as `attend` of its record.
template <class N>
bool attend_node(evaluation_pass& pass, const N& n, target<float> to, const named_memory* sums) {
  record<float> all[1 + records_below<N>];
  record_stack<float> stack{&all[0]};
  walk w = walk_of(pass);
  return attend(w, *form<evaluation_pass>(stack, n), to, sums);
}
#endif

// A tensor's memory by the names of its axes; `data` are its elements.
template <class T, class X>
named_memory_of<T> named(const X& x, T* data) {
  named_memory_of<T> memory{data, {}, name_list_of<axes_for<shape_of<X>>>};
  (void)read_leaf(x, memory.axes);
  return memory;
}

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/records/form_definitions.hpp>
#endif
