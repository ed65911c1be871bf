// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention_gradient.hpp -- the backward pass of fused attention: the gradients of queries, keys and
// values.
//
// Layer: eval. The scores are computed again, block by block, from the log-sum-exp of the forward pass, so that no
// memory grows with their number.
// Tests: tests/grad/operations/attention.test.cpp
#pragma once

#include <dimwise/eval/erased.hpp>
#include <dimwise/eval/loops_backward.hpp>
#include <dimwise/kernels/dispatch/active.hpp>
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/attention.hpp>
#include <dimwise/kernels/dispatch/active_gradients.hpp>

#include <algorithm>
#include <unordered_set>
#endif

namespace dimwise::detail {

// Whether the kernel takes the backward pass of a node.
template <class N>
struct attention_gradient_of {
  static constexpr bool matches = false;
};

#if !defined(DIMWISE_PLAIN_ONLY)

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

    gradients to;
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
      run(cx, call, part, to, heads, size.heads);
    };
    base::template attend<sums_axes>(x, size, heads, out_of, &sums_of, attention_run::of(kernel));
    return true;
  }

 private:
  struct gradients {
    const float* g = nullptr;
    float* d_q = nullptr;
    float* d_k = nullptr;
    float* d_v = nullptr;
    float* d_bias = nullptr;
    std::ptrdiff_t strides[5][max_rank] = {};
    kernels::attention_gradient_layout layout;
  };

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

  static void run(context& cx, const kernels::attention_call& forth, const attended_part& part, const gradients& to,
                  const axis* extents, std::size_t count) {
    if (forth.layout.queries == 0 && forth.layout.keys == 0) { return; }
    kernels::attention_gradient_call call;
    call.forth = forth;
    call.layout = to.layout;
    aligned_vector<kernels::attention_gradient_head> heads;
    heads.resize(count);
    const auto i0 = static_cast<std::ptrdiff_t>(part.first_query);
    const auto j0 = static_cast<std::ptrdiff_t>(part.first_key);
    std::size_t at = 0;
    kernels::for_each_row(nest_over(loops::size, extents, to.strides),
                          [&](const std::ptrdiff_t(&o)[5], std::size_t many, const std::ptrdiff_t(&s)[5]) {
      for (std::size_t i = 0; i < many; ++i, ++at) {
        const auto j = static_cast<std::ptrdiff_t>(i);
        const auto pointer = [](float* p, std::ptrdiff_t by) { return p == nullptr ? nullptr : p + by; };
        kernels::attention_gradient_head& h = heads[at];
        h = kernels::attention_gradient_head{};
        h.d_out = to.g + o[0] + j * s[0] + i0 * call.layout.d_out_row;
        h.d_q = pointer(to.d_q, o[1] + j * s[1] + i0 * call.layout.d_q_row);
        h.d_k = pointer(to.d_k, o[2] + j * s[2] + j0 * call.layout.d_k_row);
        h.d_v = pointer(to.d_v, o[3] + j * s[3] + j0 * call.layout.d_v_row);
        h.d_bias = pointer(to.d_bias, o[4] + j * s[4] + i0 * call.layout.d_bias_query + j0 * call.layout.d_bias_key);
      }
    });
    const kernels::gradient_table& table = kernels::active_gradients();
    for (std::size_t begin = 0; begin < count;) {
      const std::size_t end = end_of_call(heads, begin, forth.group);
      call.forth.heads = forth.heads + begin;
      call.forth.count = end - begin;
      call.forth.score.slopes = forth.score.slopes == nullptr ? nullptr : forth.score.slopes + begin;
      call.gradients = heads.data() + begin;
      table.attention_gradient(call, scratch(table.attention_gradient_bytes(call, cx.runner().worker_count())).data(),
                               cx.runner());
      begin = end;
    }
  }
  // Of one call, heads that share the gradient of a bias are neighbours: it ends before others would meet.
  static std::size_t end_of_call(const aligned_vector<kernels::attention_gradient_head>& heads, std::size_t begin,
                                 std::size_t group) {
    if (heads[begin].d_bias == nullptr) { return heads.size(); }
    std::unordered_set<const float*> seen;
    std::size_t end = begin;
    for (; end < heads.size(); ++end) {
      const float* const here = heads[end].d_bias;
      const bool is_neighbour = end > begin && here == heads[end - 1].d_bias;
      if (!is_neighbour && !seen.insert(here).second) { break; }
    }
    if (end == heads.size()) { return end; }
    // Heads whose gradients of keys or values are added up stay together: one task does them one after the other.
    const std::size_t together = heads[begin].d_k == nullptr && heads[begin].d_v == nullptr ? 1 : group;
    return begin + std::max(together, (end - begin) / together * together);
  }
};

#endif

}  // namespace dimwise::detail
