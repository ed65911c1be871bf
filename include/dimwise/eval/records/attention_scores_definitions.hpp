// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/attention_scores_definitions.hpp -- what the chain of scores brings along:
// numbers, biases, masks, factors.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/eval/attention/attention.test.cpp, tests/eval/attention/scores.test.cpp
#pragma once

#include <dimwise/eval/records/attention_match_definitions.hpp>
#include <dimwise/eval/records/walk_definitions.hpp>

#include <cmath>

namespace dimwise::detail {

// ---- masks ---------------------------------------------------------------------------------------------------------

// Where both the mask `a` and the mask `b` are true; `to` becomes the axes of the result.
inline lowered<bool> both_masks(name_list names, const axis* a_axes, const bool* a, const axis* b_axes, const bool* b,
                                axis* to) {
  const std::size_t rank = names.size;
  std::ptrdiff_t strides[3][max_rank] = {};
  for (std::size_t i = 0; i < rank; ++i) {
    strides[1][i] = a_axes[i].stride;
    strides[2][i] = b_axes[i].stride;
    to[i].extent = a_axes[i].extent == 1 ? b_axes[i].extent : a_axes[i].extent;
  }
  lowered<bool> result;
  result.buffer.resize(checked_size_of(to, rank, names.at, 1, "masked"));
  make_contiguous(to, rank);
  for (std::size_t i = 0; i < rank; ++i) { strides[0][i] = to[i].stride; }
  bool* const out = result.buffer.data();
  each_of_three(nest_over(rank, to, strides),
                [&](std::ptrdiff_t t, std::ptrdiff_t x, std::ptrdiff_t y) { out[t] = a[x] && b[y]; });
  for (std::size_t i = 0; i < rank; ++i) {
    if (to[i].extent == 1) { to[i].stride = 0; }
  }
  result.data = out;
  return result;
}

DIMWISE_DETAIL_LIBRARY void mask_sink::given(lowered<bool> mask, name_list axes) const {
  if (!computes) { return; }
  axis own[max_rank];
  for (std::size_t i = 0; i < scores.size; ++i) {
    const short place = axes.place_of(scores.at[i]);
    own[i] = place < 0 ? axis{1, 0} : mask.axes[place];
  }
  if (chain.has_allow) {
    axis both[max_rank];
    mask = both_masks(scores, chain.allow_axes, chain.allow.data, own, mask.data, both);
    for (std::size_t i = 0; i < scores.size; ++i) { own[i] = both[i]; }
  }
  chain.has_allow = true;
  chain.allow = static_cast<lowered<bool>&&>(mask);
  for (std::size_t i = 0; i < scores.size; ++i) {
    chain.allow_axes[i] = own[i];
    chain.allow_strides[i] = own[i].stride;
  }
}
DIMWISE_DETAIL_LIBRARY void mask_sink::padding(aligned_vector<std::ptrdiff_t>&& lengths, const axis* dense,
                                               name_list axes) const {
  chain.lengths = static_cast<aligned_vector<std::ptrdiff_t>&&>(lengths);
  align_names(scores, axes, dense, chain.length_strides);
}

// ---- steps ---------------------------------------------------------------------------------------------------------

// The least and the largest factor but 0; a kernel scales queries by ordinary numbers alone.
template <class C>
void look_at_factor(attention_chain<C>& to, std::size_t rank, bool divides, bool after_mask) {
  std::ptrdiff_t strides[1][max_rank] = {};
  for (std::size_t i = 0; i < rank; ++i) { strides[0][i] = to.factor.axes[i].stride; }
  kernels::for_each_row(nest_over(rank, to.factor.axes, strides),
                        [&](const std::ptrdiff_t(&o)[1], std::size_t m, const std::ptrdiff_t(&s)[1]) {
    for (std::size_t i = 0; i < m; ++i) {
      const C c = to.factor.data[o[0] + static_cast<std::ptrdiff_t>(i) * s[0]];
      const bool ordinary = c == 0 ? !divides : std::isnormal(c) && std::isnormal(1 / c);
      to.keep_order(ordinary && (!after_mask || c > 0));
      if (c != 0) {
        if (std::fabs(c) < to.least_factor) { to.least_factor = std::fabs(c); }
        if (std::fabs(c) > to.largest_factor) { to.largest_factor = std::fabs(c); }
      }
    }
  });
}

// Collects the steps of the scores `s`, of which `m` is the attention.
template <class C>
class score_collector {
 public:
  score_collector(walk& w, const attention_of_records<C>& m, attention_chain<C>& to) : w_(w), m_(m), to_(to) {}

  void collect(const record<C>& s) {
    switch (s.kind()) {
      case record_kind::product:
        return;
      case record_kind::view:
        return collect(*s.child[0]);
      case record_kind::binary:
        return collect_scale(s);
      case record_kind::unary:
        collect(*s.child[0]);
        return to_.function.call(static_cast<kernels::function>(s.index));
      case record_kind::function:
        collect(*s.child[0]);
        return s.template facts_as<function_facts<C>>().call(to_.function, s.mask);
      case record_kind::rounded: {
        static constexpr fn::rounded<bfloat16> to_bfloat16{};
        static constexpr fn::rounded<float16> to_float16{};
        collect(*s.child[0]);
        return s.index == rounded_to_bfloat16 ? to_.function.call(to_bfloat16) : to_.function.call(to_float16);
      }
      case record_kind::masked:
        collect(*s.child[0]);
        return s.mask_facts->take({to_, axes(), w_.computes()}, w_, s.mask, s.node_extents);
      case record_kind::biased:
        collect(*s.child[0]);
        return collect_bias(*s.child[1]);
      case record_kind::foreign:
      case record_kind::stored:
      case record_kind::bias:
      case record_kind::leaf:
      case record_kind::number:
      case record_kind::softmax:
      case record_kind::standardize:
      case record_kind::root_mean_square:
      case record_kind::quantised:
      case record_kind::rows:
      case record_kind::total:
      case record_kind::other:
        return;  // no step of a chain: `match_scores` does not match it
    }
  }

 private:
  [[nodiscard]] name_list axes() const { return m_.softmax->shape->axes; }

  void collect_scale(const record<C>& s) {
    if (is_operation(s, kernels::operation::multiply)) {
      if (const int number = number_of_cap(s); number >= 0) {
        // c · tanh(s): the kernel's cap divides by c before tanh.
        const auto c = static_cast<C>(s.child[number]->number);
        collect(*s.child[1 - number]->child[0]);
        to_.cap = c;
        to_.keep_order(c != 0);
        return to_.scale_by(c, to_.scale * c);
      }
    }
    score_chain_of_records<C> chain;
    const int place = scores_of_scale(s, chain);
    const record<C>& scores = *s.child[place];
    const record<C>& x = *s.child[1 - place];
    const bool divides = is_operation(s, kernels::operation::divide);
    collect(scores);
    if (is_number(x)) {
      const auto c = static_cast<C>(x.number);
      to_.keep_order(!scores.shape->masked || c > 0);  // what is masked stays −∞
      return divides ? to_.scale_by(1 / c, to_.scale / c) : to_.scale_by(c, to_.scale * c);
    }
    to_.factor = read_record(w_, x);
    align_names(m_.query->shape->axes, x.shape->axes, to_.factor.axes, to_.factor_strides);
    if (w_.computes()) { look_at_factor(to_, x.rank(), divides, scores.shape->masked); }
    if (divides) { to_.by_factor = kernels::operation::divide; }
  }

  void collect_bias(const record<C>& bias) {
    if (bias.kind() == record_kind::bias) {
      if (const auto slopes_of = bias.template facts_as<bias_facts_of_record>().slopes; slopes_of != nullptr) {
        if (!w_.computes()) { return; }
        slopes_of_record slopes{};
        slopes_of(bias.node, bias.node_extents, slopes);
        to_.slopes.resize(slopes.heads);
        for (std::size_t h = 0; h < slopes.heads; ++h) {
          to_.slopes[h] = static_cast<float>(alibi_slope(h, slopes.heads));
        }
        align_names(axes(), slopes.axes, slopes.at, to_.slope_strides);
        to_.distance = slopes.distance;
        return;
      }
    }
    to_.bias = read_record(w_, bias);
    to_.has_bias = true;
    align_names(axes(), bias.shape->axes, to_.bias.axes, to_.bias_strides);
  }

  walk& w_;
  const attention_of_records<C>& m_;
  attention_chain<C>& to_;
};

}  // namespace dimwise::detail
