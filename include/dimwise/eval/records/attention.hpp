// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/attention.hpp -- what fused attention reads of a formula beside its records: masks, slopes,
// functions of scores, keys and values as they are stored.
//
// Layer: eval. What depends on the type of a mask or of a function is one function per type.
// Tests: tests/eval/attention/attention.test.cpp, tests/eval/attention/scores.test.cpp
#pragma once

#include <dimwise/dim/segments.hpp>
#include <dimwise/eval/attention/function.hpp>
#include <dimwise/eval/attention/numbers.hpp>
#include <dimwise/eval/loops/positions.hpp>
#include <dimwise/eval/lowering/masks.hpp>
#include <dimwise/eval/records/record.hpp>

namespace dimwise::detail {

// The masks of a chain of scores: operands, which live here as long as the call. Strides are along the axes of the
// scores.
struct mask_chain : score_window {
  bool has_allow = false;
  lowered<bool> allow;
  std::ptrdiff_t allow_strides[max_rank];  // these arrays are written with what they belong to
  axis allow_axes[max_rank];               // of the scores; 1 element where the mask is the same for all
  aligned_vector<std::ptrdiff_t> lengths{};
  std::ptrdiff_t length_strides[max_rank];
  segments query_documents{};
  segments key_documents{};
};
// The chain of scores: numbers, masks and other operands. Slopes and functions are computed in float alone.
template <class C>
struct attention_chain : score_numbers_of<C, mask_chain> {
  bool has_bias = false;
  lowered<C> bias;
  std::ptrdiff_t bias_strides[max_rank];
  aligned_vector<float> slopes{};
  std::ptrdiff_t slope_strides[max_rank];
  std::ptrdiff_t distance = 0;
  own_function function{};
  lowered<C> factor;
  std::ptrdiff_t factor_strides[max_rank];  // along the axes of the queries
  kernels::operation by_factor = kernels::operation::multiply;
  C least_factor = 1;
  C largest_factor = 1;

  // The scales together are ordinary numbers, too.
  [[nodiscard]] bool fit() const {
    const bool divides = by_factor == kernels::operation::divide;
    const C least = divides ? this->scale / largest_factor : this->scale * least_factor;
    const C largest = divides ? this->scale / least_factor : this->scale * largest_factor;
    return score_numbers_of<C, mask_chain>::fit() &&
           (this->scale == 0 || (math::isnormal(least) && math::isnormal(largest)));
  }
};

// The product `r` as fused attention; false, and nothing done, where the kernel would give something else. `sums`,
// where it is given, takes log Σ exp of every row of scores.
template <class C>
bool attend(walk& w, const record<C>& r, target<C> to, const named_memory_of<C>* sums);

// Takes the masks of a chain.
struct mask_sink {
  mask_chain& chain;
  name_list scores;
  bool computes;

  DIMWISE_DETAIL_LIBRARY void given(lowered<bool> mask, name_list axes) const;
  DIMWISE_DETAIL_LIBRARY void padding(aligned_vector<std::ptrdiff_t>&& lengths, const axis* dense,
                                      name_list axes) const;
};

template <class Pass, class M, class E>
void take_mask(const mask_sink& to, walk& w, const M& m, const E& e) {
  Pass pass = pass_of<Pass>(w);
  to.given(read_mask(pass, m, e), name_list_of<mask_axes<M>>);
}
template <class Pass, class Q, class K, class E>
void take_mask(const mask_sink& to, walk&, const document<Q, K>&, const E& e) {
  to.chain.query_documents = e.template documents<Q>();
  to.chain.key_documents = e.template documents<K>();
}
template <class Pass, class K, class L, class E>
void take_mask(const mask_sink& to, walk& w, const padding_mask<K, L>& m, const E& e) {
  Pass pass = pass_of<Pass>(w);
  const auto x = read<working_t<L>>(pass, m.lengths());
  if constexpr (Pass::computes) {
    using axes = axes_for<shape_of<L>>;
    axis dense[max_rank] = {};
    for (std::size_t i = 0; i < axes::size; ++i) { dense[i] = x.axes[i]; }
    make_contiguous(dense, axes::size);
    to.padding(checked_lengths<K, L>(x, e.template extent<K>()), dense, name_list_of<axes>);
  }
}
template <class Pass, class Q, class K, class E>
  requires knows_window<causal<Q, K>>
void take_mask(const mask_sink& to, walk&, const causal<Q, K>& m, const E& e) {
  take_window(to.chain, m, e);
}
template <class Pass, class Q, class K, class E>
  requires knows_window<dimwise::window<Q, K>>
void take_mask(const mask_sink& to, walk&, const dimwise::window<Q, K>& m, const E& e) {
  take_window(to.chain, m, e);
}
template <class Pass, class Q, class... P, class E>
void take_mask(const mask_sink& to, walk& w, const causal<Q, summed<P...>>& m, const E& e) {
  using mask_type = causal<Q, summed<P...>>;
  const std::ptrdiff_t first = m.query_origin(e, "causal") - m.key_origin(e, "causal");
  constexpr bool neighbours = position_step<Q> == 1 && position_step<typename mask_type::key> == 1;
  if (neighbours && first >= -1) { return to.chain.narrow(-score_window::all, first + m.in_front(e)); }
  Pass pass = pass_of<Pass>(w);
  to.given(read_mask(pass, m, e), name_list_of<mask_axes<mask_type>>);
}
template <class Pass, class A, class B, class E>
void take_mask(const mask_sink& to, walk& w, const mask_pair<all_of, A, B>& m, const E& e) {
  take_mask<Pass>(to, w, m.left(), e);
  take_mask<Pass>(to, w, m.right(), e);
}

}  // namespace dimwise::detail
