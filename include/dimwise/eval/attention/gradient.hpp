// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/gradient.hpp -- the backward pass of fused attention: the gradients of queries, keys and
// values.
//
// Layer: eval. The scores are recomputed, block by block, from the log-sum-exp of the forward pass, so that no
// memory grows with their number.
// Tests: tests/grad/operations/attention.test.cpp
#pragma once

#include <dimwise/eval/records/form.hpp>
#include <dimwise/eval/written/erased.hpp>
#include <dimwise/kernels/dispatch/active_gradients.hpp>

namespace dimwise::detail {

// The log-sum-exp of every row of scores.
template <class C>
struct attention_sums {
  lowered<C> elements{};
  name_of names[max_rank] = {};
  std::size_t rank = 0;

  [[nodiscard]] named_memory_of<C> memory() {
    return named_memory_at(elements.buffer.data(), elements.axes, {names, rank});
  }
};
// The backward pass of attention: what the forward pass wrote, what arrives, and the gradients that are wanted, whose
// data are not null. They have the axes of the operands, and are 0.
template <class C>
struct attention_back {
  named_memory_of<C> out;
  named_memory_of<C> sums;
  named_memory_of<const C> g;
  named_memory_of<C> d_q;
  named_memory_of<C> d_k;
  named_memory_of<C> d_v;
  named_memory_of<C> d_bias;
};
// Templates, so that header-only programs without training compile no kernel of the backward pass.

// The product `r` as attention whose gradients a kernel computes, with the sums that it reads; false, and nothing done,
// where none does.
template <class C>
bool attend_for_gradient(walk& w, const record<C>& r, target<C> to, attention_sums<C>& sums);
template <class C>
bool attend_back(walk& w, const record<C>& r, const attention_back<C>& back);

// f(walk, record of n), for as long as the values of what is written in it are there.
template <class C, class N, class F>
bool with_record_of(const N& n, const F& f) {
  context& cx = current_context();
  if (cx.reference_forced() || size_of(n) == 0) { return false; }
  evaluation_pass pass{cx};
  [[maybe_unused]] const values_read_by<C, evaluation_pass, N> once(pass, n);
  record<C> all[1 + records_below<N>];
  record_stack<C> stack{&all[0]};
  walk w = walk_of(pass);
  return f(w, *form<evaluation_pass>(stack, n));
}

}  // namespace dimwise::detail

#if !defined(DIMWISE_PLAIN_ONLY)
#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/attention/gradient_definitions.hpp>
#endif

#if DIMWISE_DETAIL_HAS_LIBRARY
namespace dimwise::detail {
#define DIMWISE_DETAIL_COMPILED_IN(C)                                                                                  \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE bool attend_for_gradient<C>(walk&, const record<C>&, target<C>, attention_sums<C>&); \
  DIMWISE_DETAIL_LIBRARY_TEMPLATE bool attend_back<C>(walk&, const record<C>&, const attention_back<C>&);
DIMWISE_DETAIL_COMPILED_IN(float)
DIMWISE_DETAIL_COMPILED_IN(double)
#undef DIMWISE_DETAIL_COMPILED_IN
}  // namespace dimwise::detail
#endif
#endif
