// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/gradient.hpp -- the backward pass of fused attention: the gradients of queries, keys and
// values.
//
// Layer: eval. The scores are computed again, block by block, from the log-sum-exp of the forward pass, so that no
// memory grows with their number.
// Tests: tests/grad/operations/attention.test.cpp
#pragma once

#include <dimwise/eval/loops/backward.hpp>
#include <dimwise/eval/written/erased.hpp>
#include <dimwise/kernels/dispatch/active.hpp>
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/attention/attention.hpp>
#include <dimwise/kernels/dispatch/active_gradients.hpp>
#endif

namespace dimwise::detail {

// Whether the kernel takes the backward pass of a node.
template <class N>
struct attention_gradient_of {
  static constexpr bool matches = false;
};

#if !defined(DIMWISE_PLAIN_ONLY)

// The gradients of queries, keys, values and a bias: where they are, and their strides along the heads.
// Templates of the number of strides, 5: header-only programs without training compile no kernel of the backward pass.
template <std::size_t K>
struct attention_gradients_of {
  const float* g = nullptr;
  float* d_q = nullptr;
  float* d_k = nullptr;
  float* d_v = nullptr;
  float* d_bias = nullptr;
  std::ptrdiff_t strides[K][max_rank] = {};
  kernels::attention_gradient_layout layout{};
};
using attention_gradients = attention_gradients_of<5>;
struct head_extents {
  std::size_t rank;
  const axis* extents;
  std::size_t count;  // of heads
};
// The kernel for a part of the queries and keys of all heads. One function for all names.
template <std::size_t K>
void run_attention_gradient(context& cx, const kernels::attention_call& forth, const attended_part& part,
                            const attention_gradients_of<K>& to, const head_extents& all);

template <class Dims>
using float_tensor_t = tensor_of<float, make_shape_t<Dims, list<>>>;

template <class X>
inline constexpr bool is_widened = false;
template <class Shape, class Packed, class X, class... Scale>
inline constexpr bool is_widened<widened_node<Shape, Packed, X, Scale...>> = true;

// The axes of a tensor in another order.
template <class Axes, class X>
void axes_of_leaf(const X& x, axis* to) {
  axis own[max_rank];
  (void)read_leaf(x, own);
  axis_extents<Axes>::write(x.extents(), to);
  std::ptrdiff_t strides[max_rank] = {};
  align<Axes, axes_for<shape_of<X>>>(own, strides);
  for (std::size_t i = 0; i < Axes::size; ++i) { to[i].stride = strides[i]; }
}

template <class Shape, class Over, class A, class B>
  requires(kernels::available && attention_match<node<product_over<Over>, Shape, float, A, B>>::matches)
struct attention_gradient_of<node<product_over<Over>, Shape, float, A, B>>
    : fused_attention<node<product_over<Over>, Shape, float, A, B>> {
  using N = node<product_over<Over>, Shape, float, A, B>;
  using base = fused_attention<N>;
  using match = attention_match<N>;
  using roles = typename match::roles;
  using result = typename match::result;
  using loops = typename roles::loops;
  using softmax = typename roles::chain::softmax;
  using sums_type = float_tensor_t<difference_t<dims_t<shape_of<softmax>>, list<typename roles::key>>>;
  using sums_axes = typename sums_type::axes;
  // The gradient of the queries for each head: the kernel writes it, where it adds to those of keys, values and a bias.
  // Queries that several heads read lack some of these dimensions; the caller sums over them.
  using query_gradient =
      float_tensor_t<join_t<difference_t<loops, typename roles::q_axes>, dims_t<shape_of<typename roles::query_type>>>>;

  // Heads whose gradients are added up are neighbours where keys and values have every dimension of heads that one of
  // them has. Factors and functions of a user's own have gradients of their own.
  static constexpr bool matches = roles::chain::counts.factors == 0 && roles::chain::counts.functions == 0 &&
                                  is_subset<typename roles::shared_heads, typename roles::k_axes> &&
                                  is_subset<typename roles::shared_heads, typename roles::v_axes> &&
                                  !is_widened<typename roles::key_type> && !is_widened<typename roles::value_type>;

  // The value and the log-sum-exp of its rows, in one pass; false, and nothing done, where the kernel does not take it.
  template <class Out>
  static bool forth(const N& n, Out& out, sums_type& sums) {
    context& cx = current_context();
    if (cx.reference_forced() || size_of(n) == 0) { return false; }
    axis to[max_rank];
    axis rows[max_rank];
    axes_of_leaf<result>(out, to);
    (void)read_leaf(sums, rows);
    const target<float> sums_to{sums.overwrite(), rows};
    evaluation_pass pass{cx};
    [[maybe_unused]] const values_read_by<float, evaluation_pass, N> once(pass, n);
    return base::template run<sums_axes>(pass, n, {out.overwrite(), to}, &sums_to);
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
    const auto& scores = roles::chain::find(match::weights(n)).template child<0>();
    attention_pieces<roles, evaluation_pass> pieces(pass);
    pieces.collect(scores);
    if (!pieces.fit()) { return false; }
    attention_operands<N, evaluation_pass> x(pieces, n, score_chain<typename roles::chain::scores>::find(scores));
    axis heads[max_rank];
    axis_extents<loops>::write(n.extents(), heads);
    const attention_size size = size_of_attention<roles>(heads, x.q.axes, x.v.axes());

    attention_gradients to;
    axis g_axes[max_rank];
    axes_of_leaf<result>(g, g_axes);
    to.g = g.data();
    along_loops<loops, result>(g_axes, to.strides[0]);
    to.layout.d_out_row = axis_of<typename roles::row, result>(g_axes).stride;
    to.layout.d_out_feature = axis_of<typename roles::values, result>(g_axes).stride;
    using key_axis = list<typename roles::key>;
    to.d_q = place<typename query_gradient::axes, typename roles::row, typename roles::features>(
        d_q, to.strides[1], to.layout.d_q_row, to.layout.d_q_feature);
    to.d_k = place<typename roles::k_axes, key_axis, typename roles::features>(d_k, to.strides[2], to.layout.d_k_row,
                                                                               to.layout.d_k_feature);
    to.d_v = place<typename roles::v_axes, key_axis, typename roles::values>(d_v, to.strides[3], to.layout.d_v_row,
                                                                             to.layout.d_v_feature);
    if constexpr (!std::is_same_v<Bias, nothing>) {
      to.d_bias = place<typename Bias::axes, typename roles::row, key_axis>(
          d_bias, to.strides[4], to.layout.d_bias_query, to.layout.d_bias_key);
    }
    if (size.empty()) { return true; }

    axis out_axes[max_rank];
    axes_of_leaf<result>(out, out_axes);
    axis rows[max_rank];
    // The kernel reads what the forward pass wrote.
    const target<float> sums_of{const_cast<float*>(read_leaf(sums, rows)), rows};
    const target<float> out_of{const_cast<float*>(out.data()), out_axes};
    cx.count(plan_kind::attention);
    const auto kernel = [&](const kernels::attention_call& call, const attended_part& part) {
      run_attention_gradient(cx, call, part, to, {loops::size, heads, size.heads});
    };
    base::template attend<sums_axes>(x, size, heads, out_of, &sums_of, attention_run::of(kernel));
    return true;
  }

 private:
  // A gradient's memory, zero, and its strides.
  template <class Axes, class Rows, class Features, class To>
  static float* place(To* to, std::ptrdiff_t* strides, std::ptrdiff_t& row, std::ptrdiff_t& feature) {
    if (to == nullptr) { return nullptr; }
    to->fill(0);
    axis axes[max_rank];
    axes_of_leaf<Axes>(*to, axes);
    along_loops<loops, Axes>(axes, strides);
    row = axis_of<Rows, Axes>(axes).stride;
    feature = axis_of<Features, Axes>(axes).stride;
    return to->overwrite();
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
DIMWISE_DETAIL_LIBRARY_TEMPLATE void run_attention_gradient<5>(context&, const kernels::attention_call&,
                                                               const attended_part&, const attention_gradients&,
                                                               const head_extents&);
}  // namespace dimwise::detail
#endif
#endif
