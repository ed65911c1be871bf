// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/operations/attention.hpp -- stored attention: its log-sum-exp is kept, and one kernel gives all its
// gradients.
//
// Layer: grad. A statement that is attention as a whole, `tensor z = contract<key>(softmax<key>(…), v);`, as modules
// store it. Attention within a larger formula goes the general way.
// Tests: tests/grad/operations/attention.test.cpp
#pragma once

#include <dimwise/eval/attention/gradient.hpp>
#include <dimwise/grad/record/adjoints.hpp>

namespace dimwise::detail {

// Whether a statement that stores E in T may be attention.
template <class T, class E>
inline constexpr bool may_be_attention = false;

#if !defined(DIMWISE_PLAIN_ONLY)

template <class Shape, class Over, class A, class B>
inline constexpr bool may_be_attention<float, contraction<Shape, Over, A, B>> =
    kernels::available && (gives_hidden_weights<A> || gives_hidden_weights<B>);

template <class E, class Out>
bool store_attention(const E& n, Out& out, attention_sums& sums) {
  return with_record_of(n, [&](walk& w, const record<float>& r) {
    const named_memory result = named(out, out.overwrite());
    axis to[max_rank];
    write_axes(result, name_list_of<axes_for<shape_of<E>>>, to);
    return attend_for_gradient(w, r, target<float>{result.data, to}, sums);
  });
}

// Attention that a kernel has computed: the value and the log-sum-exp are kept for the backward pass.
template <class E, class Value>
struct kept_attention {
  E formula;
  Value value;
  attention_sums sums;

  // Sends the gradients of queries, keys, values and a bias; false where no kernel takes it.
  template <class G>
  bool send(const G& g) {
    return with_record_of(formula, [&](walk& w, const record<float>& r) {
      attention_back back;
      back.out = named(value, const_cast<float*>(static_cast<const Value&>(value).data()));  // is read
      back.sums = sums.memory();
      back.g = named(g, g.data());
      return send_attention(w, r, back);
    });
  }
};
template <class E, class Value>
inline constexpr bool holds_erased<kept_attention<E, Value>> = holds_erased<E>;

#endif

}  // namespace dimwise::detail
