// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/layout.hpp -- extents and strides of every role of an attention, and how much one call
// computes.
//
// Layer: eval.
// Tests: tests/eval/attention/attention.test.cpp
#pragma once

#include <dimwise/eval/attention/match.hpp>
#include <dimwise/eval/context.hpp>
#include <dimwise/kernels/dispatch/table.hpp>

namespace dimwise::detail {

template <class Axis, class Axes>
[[gnu::always_inline]] constexpr axis axis_of(const axis* axes) {
  if constexpr (Axis::size == 0) {
    return {1, 0};
  } else if constexpr (is_in<first_t<Axis>, Axes>) {
    return axes[index_in<first_t<Axis>, Axes>];
  } else {
    return {1, 0};
  }
}

// Extents and strides of every role.
template <class Roles, class ResultAxes>
constexpr kernels::attention_layout layout_of(const axis* q, const axis* k, const axis* v, const axis* to) {
  using key_axis = list<typename Roles::key>;
  const axis rows = axis_of<typename Roles::row, typename Roles::q_axes>(q);
  const axis keys = axis_of<key_axis, typename Roles::k_axes>(k);
  const axis features = axis_of<typename Roles::features, typename Roles::q_axes>(q);
  const axis values = axis_of<typename Roles::values, typename Roles::v_axes>(v);
  kernels::attention_layout layout;
  layout.queries = rows.extent;
  layout.keys = keys.extent;
  layout.head_dim = features.extent;
  layout.value_dim = values.extent;
  layout.q_row = rows.stride;
  layout.k_row = keys.stride;
  layout.v_row = axis_of<key_axis, typename Roles::v_axes>(v).stride;
  layout.out_row = axis_of<typename Roles::row, ResultAxes>(to).stride;
  layout.q_feature = features.stride;
  layout.k_feature = axis_of<typename Roles::features, typename Roles::k_axes>(k).stride;
  layout.v_feature = values.stride;
  layout.out_feature = axis_of<typename Roles::values, ResultAxes>(to).stride;
  return layout;
}

// A few queries are bound by reading the keys once; more are bound by arithmetic.
constexpr bool few_queries(std::size_t queries, std::size_t group) { return queries <= 4 && queries * group <= 32; }

// How much one call computes: what runs depends on nothing else.
struct attention_size {
  std::size_t heads = 1;
  std::size_t group = 1;  // heads that share keys and values
  std::size_t queries = 1;
  std::size_t values = 1;

  [[nodiscard]] constexpr bool empty() const { return heads == 0 || queries == 0 || values == 0; }
  [[nodiscard]] constexpr plan_kind kind() const {
    return few_queries(queries, group) ? plan_kind::decode : plan_kind::attention;
  }
};
// `loops` are the extents of the loops over heads.
template <class Roles>
constexpr attention_size size_of_attention(const axis* loops, const axis* q, const axis* v) {
  attention_size size;
  for (std::size_t i = 0; i < Roles::loops::size; ++i) {
    size.heads *= loops[i].extent;
    if (i >= Roles::shared_heads::size) { size.group *= loops[i].extent; }
  }
  size.queries = axis_of<typename Roles::row, typename Roles::q_axes>(q).extent;
  size.values = axis_of<typename Roles::values, typename Roles::v_axes>(v).extent;
  return size;
}

}  // namespace dimwise::detail
