// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/adjoints.hpp -- the adjoints of the operations that the library computes.
//
// Layer: grad. An adjoint gets the record of a value and the record of its gradient, which has the axes of the value in
// any order and no marks. It makes records of the gradients of its operands, which are computed when they are added to
// a leaf or read twice, so that the kernels and patterns of the forward pass serve them.
// Tests: tests/grad/operations/
#pragma once

#include <dimwise/eval/records/record.hpp>
#include <dimwise/expr/rows/nodes.hpp>
#include <dimwise/grad/record/recorded_value.hpp>

namespace dimwise::detail {

template <class C>
struct attention_back;  // eval/attention/gradient.hpp

// Sends `g` to the value of `x` if it is tracked; throws `gradient_error` if an adjoint gave it other axes or extents.
template <class C>
void send_to(walk& w, const record<C>& x, const record<C>& g);

template <class C>
adjoint_function<C> send_leaf;
template <class C>
adjoint_function<C> send_view;
template <class C>
adjoint_function<C> send_product;
template <class C>
adjoint_function<C> send_unary;
template <class C>
adjoint_function<C> send_binary;
// Of powers and of `clamp`.
template <class C>
adjoint_function<C> send_partials;
template <class C>
adjoint_function<C> send_chosen;
template <class C>
adjoint_function<C> send_masked;
template <class C>
adjoint_function<C> send_biased;
template <class C>
adjoint_function<C> send_gathered;
template <class C>
adjoint_function<C> send_scattered;
template <class C>
adjoint_function<C> send_cross_entropy;
template <class C, class How>
void send_rows(walk& w, const record<C>& r, const record<C>& g);
template <class C, class How>
void send_total(walk& w, const record<C>& r, const record<C>& g);

// Attention as a whole: `back` without the gradients. False, and nothing sent, where no kernel takes it.
template <class C>
bool send_attention(walk& w, const record<C>& r, const attention_back<C>& back);

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/grad/record/adjoints_definitions.hpp>
#endif
