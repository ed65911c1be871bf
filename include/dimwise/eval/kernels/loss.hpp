// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/loss.hpp -- the records of cross-entropy and of its gradient.
//
// Layer: eval. Programs that do not train do not include it.
// Tests: tests/grad/training/kernels.test.cpp
#pragma once

#include <dimwise/eval/records/form.hpp>
#include <dimwise/expr/rows/loss.hpp>

namespace dimwise::detail {

// The loss of each row. Children: logits, weights of the alternatives, and targets that are probabilities; the mask
// says where it counts, null: everywhere. Facts: the alternatives, with the ids; number: the smoothing; index: whether
// it is a divergence.
template <class C>
void write_cross_entropy(walk& w, const record<C>& r, target<C> to);
// The gradient of the logits of `node`, a record of a loss. Children: the gradient of its rows, and the logits.
template <class C>
void write_cross_entropy_back(walk& w, const record<C>& r, target<C> to);

namespace records {
template <class C>
inline constexpr record_operation<C> cross_entropy = {record_kind::other, nullptr, &write_cross_entropy<C>};
template <class C>
inline constexpr record_operation<C> cross_entropy_back = {record_kind::other, nullptr, &write_cross_entropy_back<C>};
}  // namespace records

template <class Rest, class T, class V, class X, class Y, class W, class Counts>
inline constexpr bool has_operation<cross_entropy_node<Rest, T, V, X, Y, W, Counts>> = true;

template <class Rest, class T, class V, class X, class Y, class W, class Counts>
inline constexpr std::size_t records_below<cross_entropy_node<Rest, T, V, X, Y, W, Counts>> =
    records_in<X> + records_in<W> + (real_element<value_of<Y>> ? records_in<Y> : 0);

// Of targets that are probabilities.
template <class V>
inline constexpr id_facts_of_record alternatives_without_ids = {
    name_list_of<axes_of_list_t<list<V>>>, &dimension_name<V>, {nullptr, 0}, nullptr};

template <class Pass, class C, class N, class V>
[[gnu::always_inline]] inline void form_operation(record_stack<C>& all, record<C>& r, const N& n,
                                                  const cross_entropy_over<V>& op) {
  using targets = element_t<1, children_t<N>>;
  using counts = element_t<3, children_t<N>>;
  r.operation = &records::cross_entropy<C>;
  r.number = op.smoothing;
  r.index = op.divergence ? 1 : 0;
  r.child[0] = form_child<Pass>(all, n.template child<0>());
  r.child[1] = form_child<Pass>(all, n.template child<2>());
  if constexpr (real_element<value_of<targets>>) {
    r.facts = &alternatives_without_ids<V>;
    r.child[2] = form_child<Pass>(all, n.template child<1>());
  } else {
    r.facts = &facts_of_ids<Pass, C, V, targets>;
    r.node = &n.template child<1>();
  }
  r.mask_facts = nullptr;
  if constexpr (!is_constant<counts>) {
    r.mask_facts = &condition_facts_for<C, Pass, counts, extents_type_of<N>>;
    r.mask = &n.template child<3>();
  }
}

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/kernels/loss_definitions.hpp>
#endif
