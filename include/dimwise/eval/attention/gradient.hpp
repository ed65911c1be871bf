// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/gradient.hpp -- the backward pass of fused attention: the gradients of queries, keys and
// values.
//
// Layer: eval. The scores are recomputed, block by block, from the log-sum-exp of the forward pass, so that no
// memory grows with their number.
// Tests: tests/grad/operations/attention.test.cpp
#pragma once

#include <dimwise/eval/loops/backward.hpp>
#include <dimwise/eval/written/erased.hpp>
#include <dimwise/kernels/dispatch/active.hpp>
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/attention/match.hpp>
#include <dimwise/eval/records/form.hpp>
#include <dimwise/kernels/dispatch/active_gradients.hpp>
#endif

namespace dimwise::detail {

// Whether the kernel takes the backward pass of a node.
template <class N>
struct attention_gradient_of {
  static constexpr bool matches = false;
};

#if !defined(DIMWISE_PLAIN_ONLY)

// The backward pass of attention: what the forward pass wrote, what arrives, and the gradients that are wanted, whose
// data are not null.
struct attention_back {
  named_memory out;
  named_memory sums;
  named_memory_of<const float> g;
  named_memory d_q;
  named_memory d_k;
  named_memory d_v;
  named_memory d_bias;
};
// A template, so that header-only programs without training compile no kernel of the backward pass.
template <class C>
bool attend_back(context& cx, const record<C>& r, const attention_back& back);

template <class Dims>
using float_tensor_t = tensor_of<float, make_shape_t<Dims, list<>>>;

template <class X>
inline constexpr bool is_widened = false;
template <class Shape, class Packed, class X, class... Scale>
inline constexpr bool is_widened<widened_node<Shape, Packed, X, Scale...>> = true;

template <class Shape, class T, class Over, class A, class B>
  requires(kernels::available && std::is_same_v<untracked_t<T>, float> &&
           attention_match<node<product_over<Over>, Shape, T, A, B>>::matches)
struct attention_gradient_of<node<product_over<Over>, Shape, T, A, B>> {
  using N = node<product_over<Over>, Shape, T, A, B>;
  using match = attention_match<N>;
  using roles = typename match::roles;
  using loops = typename roles::loops;
  using softmax = typename roles::chain::softmax;
  using sums_type = float_tensor_t<difference_t<dims_t<shape_of<softmax>>, list<typename roles::key>>>;
  // The gradient of the queries for each head: the kernel writes it, where it adds to those of keys, values and a bias.
  // Queries that several heads read lack some of these dimensions; the caller sums over them.
  using query_gradient =
      float_tensor_t<join_t<difference_t<loops, typename roles::q_axes>, dims_t<shape_of<typename roles::query_type>>>>;

  // Heads whose gradients are added up are neighbours where keys and values have every dimension of heads that one of
  // them has.
  static constexpr bool matches = is_subset<typename roles::shared_heads, typename roles::k_axes> &&
                                  is_subset<typename roles::shared_heads, typename roles::v_axes> &&
                                  !is_widened<typename roles::key_type> && !is_widened<typename roles::value_type>;

  // The value and the log-sum-exp of its rows, in one pass; false, and nothing done, where the kernel does not take it.
  template <class Out>
  static bool forth(const N& n, Out& out, sums_type& sums) {
    context& cx = current_context();
    if (cx.reference_forced() || size_of(n) == 0) { return false; }
    const named_memory sums_to = named(sums, sums.overwrite());
    const named_memory result_of = named(out, out.overwrite());
    axis to[max_rank];
    write_axes(result_of, name_list_of<axes_for<shape_of<N>>>, to);
    evaluation_pass pass{cx};
    [[maybe_unused]] const values_read_by<float, evaluation_pass, N> once(pass, n);
    return attend_node(pass, n, {result_of.data, to}, &sums_to);
  }

  // Writes the gradients that are wanted (not null); false, and nothing done, where the kernel does not take it. `Bias`
  // is a tensor of the bias's dimensions; `nothing` where no bias has a gradient.
  template <class Bias, class Out, class G>
  static bool back(const N& n, const Out& out, const sums_type& sums, const G& g, query_gradient* d_q,
                   float_tensor_t<dims_t<shape_of<typename roles::key_type>>>* d_k,
                   float_tensor_t<dims_t<shape_of<typename roles::value_type>>>* d_v, Bias* d_bias) {
    context& cx = current_context();
    if (cx.reference_forced()) { return false; }
    evaluation_pass pass{cx};
    [[maybe_unused]] const values_read_by<float, evaluation_pass, N> once(pass, n);
    attention_back call;
    // The kernel reads what the forward pass wrote.
    call.out = named(out, const_cast<float*>(out.data()));
    call.sums = named(sums, const_cast<float*>(sums.data()));
    call.g = named(g, g.data());
    place(d_q, call.d_q);
    place(d_k, call.d_k);
    place(d_v, call.d_v);
    if constexpr (!std::is_same_v<Bias, nothing>) { place(d_bias, call.d_bias); }
    record<float> all[1 + records_below<N>];
    record_stack<float> stack{&all[0]};
    return attend_back(cx, *form<evaluation_pass>(stack, n), call);
  }

 private:
  // A gradient's memory, zero.
  template <class To>
  static void place(To* to, named_memory& memory) {
    if (to == nullptr) { return; }
    to->fill(0);
    memory = named(*to, to->overwrite());
  }
};

#endif

}  // namespace dimwise::detail

#if !defined(DIMWISE_PLAIN_ONLY)
#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/attention/gradient_definitions.hpp>
#endif

#if DIMWISE_DETAIL_HAS_LIBRARY
namespace dimwise::detail {
DIMWISE_DETAIL_LIBRARY_TEMPLATE bool attend_back<float>(context&, const record<float>&, const attention_back&);
}  // namespace dimwise::detail
#endif
#endif
