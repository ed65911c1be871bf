// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/pieces.hpp -- what the chain of scores brings along: biases, given masks, lengths, documents,
// factors.
//
// Layer: eval.
// Tests: tests/eval/attention/attention.test.cpp, tests/eval/attention/scores.test.cpp
#pragma once

#include <dimwise/eval/attention/function.hpp>
#include <dimwise/eval/attention/numbers.hpp>
#include <dimwise/eval/loops/positions.hpp>
#include <dimwise/eval/lowering/masks.hpp>

#include <cmath>

namespace dimwise::detail {

// Where both the mask `a` and the mask `b` are true; `to` becomes the axes of the result.
template <class Axes>
lowered<bool> both_masks(const axis* a_axes, const bool* a, const axis* b_axes, const bool* b, axis* to) {
  constexpr std::size_t rank = Axes::size;
  std::ptrdiff_t strides[3][max_rank] = {};
  for (std::size_t i = 0; i < rank; ++i) {
    strides[1][i] = a_axes[i].stride;
    strides[2][i] = b_axes[i].stride;
  }
  for (std::size_t i = 0; i < rank; ++i) { to[i].extent = a_axes[i].extent == 1 ? b_axes[i].extent : a_axes[i].extent; }
  lowered<bool> result;
  result.buffer.resize(checked_contiguous<Axes>(to, 1, "masked"));
  for (std::size_t i = 0; i < rank; ++i) { strides[0][i] = to[i].stride; }
  bool* const out = result.buffer.data();
  kernels::for_each_row(nest_over(rank, to, strides),
                        [&](const std::ptrdiff_t(&o)[3], std::size_t count, const std::ptrdiff_t(&s)[3]) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      out[o[0] + j * s[0]] = a[o[1] + j * s[1]] && b[o[2] + j * s[2]];
    }
  });
  for (std::size_t i = 0; i < rank; ++i) {
    if (to[i].extent == 1) { to[i].stride = 0; }
  }
  result.data = out;
  return result;
}

// The numbers of a chain, and its operands: biases and masks of elements live here as long as the call.
struct attention_chain : score_numbers {
  lowered<float> bias{};
  bool has_bias = false;
  std::ptrdiff_t bias_strides[max_rank] = {};
  lowered<bool> allow{};
  std::ptrdiff_t allow_strides[max_rank] = {};
  axis allow_axes[max_rank] = {};  // of the weights; 1 element where the mask is the same for all
  int given_masks = 0;
  aligned_vector<std::ptrdiff_t> lengths{};
  std::ptrdiff_t length_strides[max_rank] = {};
  aligned_vector<float> slopes{};
  std::ptrdiff_t slope_strides[max_rank] = {};
  std::ptrdiff_t distance = 0;
  own_function function{};
  lowered<float> factor{};
  std::ptrdiff_t factor_strides[max_rank] = {};
  kernels::operation by_factor = kernels::operation::multiply;
  float least_factor = 1;
  float largest_factor = 1;
  segments query_documents{};
  segments key_documents{};

  // The scales together are ordinary numbers, too.
  [[nodiscard]] bool fit() const {
    const bool divides = by_factor == kernels::operation::divide;
    const float least = divides ? scale / largest_factor : scale * least_factor;
    const float largest = divides ? scale / least_factor : scale * largest_factor;
    return score_numbers::fit() && (scale == 0 || (std::isnormal(least) && std::isnormal(largest)));
  }
};

// How they are collected.
template <class Roles, class Pass>
struct attention_pieces : attention_chain, score_pieces<attention_pieces<Roles, Pass>> {
  using base = score_pieces<attention_pieces<Roles, Pass>>;
  using base::collect;
  using base::take;
  using w_axes = typename Roles::w_axes;

  Pass& pass;

  explicit attention_pieces(Pass& p) : pass(p) {}

  template <class Q, class K, class E>
  void take(const document<Q, K>&, const E& e) {
    query_documents = e.template documents<Q>();
    key_documents = e.template documents<K>();
  }
  template <class K, class L, class E>
  void take(const padding_mask<K, L>& m, const E& e) {
    const auto x = read<working_t<L>>(pass, m.lengths());
    if constexpr (Pass::computes) {
      using axes = axes_for<shape_of<L>>;
      axis dense[max_rank] = {};
      for (std::size_t i = 0; i < axes::size; ++i) { dense[i] = x.axes[i]; }
      make_contiguous(dense, axes::size);
      lengths = checked_lengths<K, L>(x, e.template extent<K>());
      align<w_axes, axes>(dense, length_strides);
    }
  }
  template <class Q, class... P, class E>
  void take(const causal<Q, summed<P...>>& m, const E& e) {
    const std::ptrdiff_t first = m.query_origin(e, "causal") - m.key_origin(e, "causal");
    constexpr bool neighbours = position_step<Q> == 1 && position_step<typename causal<Q, summed<P...>>::key> == 1;
    if (!neighbours || first < -1) { return take_given(m, e); }
    narrow(-all, first + m.in_front(e));
  }
  template <class M, class E>
  void take(const M& m, const E& e) {
    take_given(m, e);
  }
  template <class M, class E>
  void take_given(const M& m, const E& e) {
    lowered<bool> given = read_mask(pass, m, e);
    axis own[max_rank];
    for (std::size_t i = 0; i < w_axes::size; ++i) {
      const short at = places<w_axes, mask_axes<M>>::at[i];
      own[i] = at < 0 ? axis{1, 0} : given.axes[at];
    }
    if constexpr (!Pass::computes) { return; }
    if (given_masks++ > 0) {
      axis both[max_rank];
      given = both_masks<w_axes>(allow_axes, allow.data, own, given.data, both);
      for (std::size_t i = 0; i < w_axes::size; ++i) { own[i] = both[i]; }
    }
    allow = static_cast<lowered<bool>&&>(given);
    for (std::size_t i = 0; i < w_axes::size; ++i) {
      allow_axes[i] = own[i];
      allow_strides[i] = own[i].stride;
    }
  }

  template <class Shape, class F, class E, class X>
    requires((std::is_same_v<F, fn::multiply> || std::is_same_v<F, fn::divide>) && !is_constant<X> && !is_constant<E>)
  void collect(const elementwise<Shape, float, F, E, X>& n) {
    constexpr std::size_t at = scores_place<elementwise<Shape, float, F, E, X>>;
    collect(n.template child<at>());
    factor = read<float>(pass, n.template child<1 - at>());
    using scale_type = std::conditional_t<at == 0, X, E>;
    align<typename Roles::q_axes, axes_for<shape_of<scale_type>>>(factor.axes, factor_strides);
    if constexpr (Pass::computes) {
      look_at_factor<F, axes_for<shape_of<scale_type>>, is_masked<std::conditional_t<at == 0, E, X>>>();
    }
    if constexpr (std::is_same_v<F, fn::divide>) { by_factor = kernels::operation::divide; }
  }
  // The least and the largest factor but 0; a kernel scales queries by ordinary numbers alone.
  template <class F, class Axes, bool AfterMask>
  void look_at_factor() {
    std::ptrdiff_t strides[1][max_rank] = {};
    for (std::size_t i = 0; i < Axes::size; ++i) { strides[0][i] = factor.axes[i].stride; }
    kernels::for_each_row(nest_over(Axes::size, factor.axes, strides),
                          [&](const std::ptrdiff_t(&o)[1], std::size_t m, const std::ptrdiff_t(&s)[1]) {
      for (std::size_t i = 0; i < m; ++i) {
        const float c = factor.data[o[0] + static_cast<std::ptrdiff_t>(i) * s[0]];
        const bool ordinary = c == 0 ? std::is_same_v<F, fn::multiply> : std::isnormal(c) && std::isnormal(1 / c);
        keep_order(ordinary && (!AfterMask || c > 0));
        if (c != 0) {
          if (std::fabs(c) < least_factor) { least_factor = std::fabs(c); }
          if (std::fabs(c) > largest_factor) { largest_factor = std::fabs(c); }
        }
      }
    });
  }
  template <class Shape, class F, class E>
  void collect(const elementwise<Shape, float, F, E>& n) {
    collect(n.template child<0>());
    function.call(n.op().f);
  }
  template <class Shape, class E, class B>
  void collect(const biased_node<Shape, E, B>& n) {
    collect(n.template child<0>());
    bias = read<float>(pass, n.template child<1>());
    has_bias = true;
    align<w_axes, axes_for<shape_of<B>>>(bias.axes, bias_strides);
  }
  template <class Shape, class E, class B>
  void collect(const position_biased_node<Shape, E, B>& n) {
    collect(n.template child<0>());
    bias = read_bias<float>(pass, n.template child<1>(), n.extents());
    has_bias = true;
    align<w_axes, bias_axes<B>>(bias.axes, bias_strides);
  }
  template <class Shape, class E, class Q, class K, class H>
    requires(position_step<Q> == 1 && position_step<K> == 1)
  void collect(const position_biased_node<Shape, E, alibi<Q, K, H>>& n) {
    collect(n.template child<0>());
    if constexpr (!Pass::computes) { return; }
    const auto& e = n.extents();
    slopes.resize(e.template extent<H>());
    for (std::size_t h = 0; h < slopes.size(); ++h) { slopes[h] = static_cast<float>(alibi_slope(h, slopes.size())); }
    using head_axes = axes_for<shape<H>>;
    axis along[max_rank];
    axis_extents<head_axes>::write_contiguous(e, along);
    align<w_axes, head_axes>(along, slope_strides);
    distance = n.template child<1>().key_origin(e, "alibi") - n.template child<1>().query_origin(e, "alibi");
  }
};

}  // namespace dimwise::detail
