// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/form.hpp -- from nodes to records: all that is compiled for a node that the library evaluates.
//
// Layer: eval. A node without a record, a foreign one, becomes a record that calls its own evaluation.
// Tests: tests/eval/records.test.cpp
#pragma once

#include <dimwise/eval/loops/ids.hpp>
#include <dimwise/eval/loops/product.hpp>
#include <dimwise/eval/records/nodes.hpp>
#include <dimwise/eval/records/stored.hpp>
#include <dimwise/expr/rows/sort.hpp>

namespace dimwise::detail {

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
  r.facts = &name_list_of<axes_of_list_t<Over>>;
  // A mask decides what is hidden, so a visible −∞ counts.
  if constexpr (is_masked_node<child_t<N>>) {
    r.operation = &records::visible_total<C, How>;
  } else {
    r.operation = &records::total<C, How>;
  }
  r.child[0] = form_child<Pass>(all, n.template child<0>());
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

// A choice.
template <class Pass, class C, class N, class F>
  requires std::is_same_v<F, fn::choose>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n, const apply<F>&) {
  using M = child_t<N>;
  r.operation = &records::chosen<C>;
  r.mask_facts = &condition_facts_for<C, Pass, M, extents_type_of<N>>;
  r.mask = &n.template child<0>();
  r.number = 0;
  r.child[0] = form_child<Pass>(all, n.template child<1>());
  r.child[1] = form_child<Pass>(all, n.template child<2>());
}
template <class Pass, class C, class N, class F>
  requires(!std::is_same_v<F, fn::choose>)
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n, const apply<F>& op) {
  r.child[0] = form_child<Pass>(all, n.template child<0>());
  if constexpr (children_t<N>::size > 1) { r.child[1] = form_child<Pass>(all, n.template child<1>()); }
  if constexpr (std::is_same_v<F, fn::clamp>) {
    r.operation = &records::clamped<C>;
    r.child[2] = form_child<Pass>(all, n.template child<2>());
  } else if constexpr (std::is_same_v<F, fn::pow>) {
    r.operation = &records::power<C>;
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
    r.mask = &op.f;
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
  record<C>& bias = next_record(all, constants_of_bias<C, N>, &n.template child<1>(), n.extents());
  bias.operation = &records::bias<C, Pass, B, extents>;
  bias.facts = &facts_of_bias<B, extents>;
  r.child[1] = &bias;
}
// ---- ids ------------------------------------------------------------------------------------------------------------

template <class Pass, class C, class Ids>
lowered<std::size_t> read_ids(walk& w, const void* ids) {
  Pass pass = pass_of<Pass>(w);
  return as_numbers(read<C>(pass, *static_cast<const Ids*>(ids)));
}
template <class Pass, class C, class D, class Ids>
inline constexpr id_facts_of_record facts_of_ids = {name_list_of<axes_of_list_t<list<D>>>, &dimension_name<D>,
                                                    name_list_of<axes_for<shape_of<Ids>>>, &read_ids<Pass, C, Ids>};
// What is read, or added up, by ids, which are the second operand.
template <class Pass, class C, class D, class N>
[[gnu::always_inline]] inline void form_by_ids(record_stack<C>& all, record<C>& r, const N& n,
                                               const record_operation<C>& operation) {
  r.operation = &operation;
  r.facts = &facts_of_ids<Pass, C, D, element_t<1, children_t<N>>>;
  r.node = &n.template child<1>();
  r.child[0] = form_child<Pass>(all, n.template child<0>());
}
template <class Pass, class C, class N, class D>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n,
                                                  const gather_along<D>&) {
  form_by_ids<Pass, C, D>(all, r, n, records::gathered<C>);
}
template <class Pass, class C, class N, class D>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n,
                                                  const scatter_along<D>&) {
  form_by_ids<Pass, C, D>(all, r, n, records::scattered<C>);
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
    if constexpr (is_leaf<X> && shares_elements<untracked_type<X>, C>) {
      r.operation = &records::shared_leaf<C>;
      r.node = &untracked_of(x).handle();
    } else {
      r.operation = &records::foreign<C, Pass, X>;
      if constexpr (is_stored_node<X>) { r.facts = &stored_of_node<Pass, X>::value; }
    }
    if constexpr (is_tensor<X> && is_tracked<X>) { r.origin = x.origin(); }
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

// A node as fused attention, as `attend` of its record.
template <class C, class N>
bool attend_node(evaluation_pass& pass, const N& n, target<C> to, const named_memory_of<C>* sums) {
  record<C> all[1 + records_below<N>];
  record_stack<C> stack{&all[0]};
  walk w = walk_of(pass);
  return attend(w, *form<evaluation_pass>(stack, n), to, sums);
}

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
