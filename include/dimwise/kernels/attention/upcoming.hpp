// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/attention/upcoming.hpp -- the rows that a task of attention reads or writes next, to be prefetched.
//
// Layer: kernels. They are prefetched during the weighting of values, a few rows between two tiles: a burst or an
// earlier prefetch would evict some before their use.
// Tests: tests/kernels/attention/forward.test.cpp
#pragma once

#include <dimwise/kernels/attention/plan.hpp>
#include <dimwise/kernels/attention/sight.hpp>
#include <dimwise/kernels/attention/types.hpp>
#include <dimwise/kernels/decode/prefetch_rows.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

template <class T>
[[nodiscard, gnu::always_inline]] inline const T* row_at(const T* base, std::ptrdiff_t stride,
                                                         std::size_t index) noexcept {
  return base + static_cast<std::ptrdiff_t>(index) * stride;
}

/// Rows of elements of any width, to be prefetched: nothing reads them as floats.
template <class T>
[[nodiscard, gnu::always_inline]] inline prefetch_rows rows_from(const T* data, std::ptrdiff_t row,
                                                                 std::size_t features, std::size_t rows) noexcept {
  constexpr std::size_t floats_in = sizeof(T) / sizeof(float);
  return {reinterpret_cast<const float*>(data), row * static_cast<std::ptrdiff_t>(floats_in), features * floats_in,
          rows};
}

/// The keys and values of the block that begins at `first`.
template <class Arch>
[[nodiscard]] reading_list rows_of_keys(const layout_for<Arch>& layout, const head_for<Arch>& head,
                                        std::size_t first) noexcept {
  reading_list list;
  const std::size_t count = min(first + block_keys, layout.keys) - first;
  if (head.k != nullptr && layout.k_feature == 1)
    list.add(rows_from(row_at(head.k, layout.k_row, first), layout.k_row, layout.head_dim, count));
  if (head.v != nullptr && layout.v_feature == 1)
    list.add(rows_from(row_at(head.v, layout.v_row, first), layout.v_row, layout.value_dim, count));
  return list;
}

/// The rows that the next task reads first, and the output of these queries.
template <class Arch>
[[nodiscard]] reading_list rows_of_task(const layout_for<Arch>& layout, const head_for<Arch>& head,
                                        const head_window& window, const query_range& queries,
                                        const task_place<Arch>& next) noexcept {
  reading_list list;
  if (next.head != nullptr) {
    list = rows_of_keys<Arch>(layout, *next.head, window.begin_of(next.begin) / block_keys * block_keys);
    if (layout.q_feature == 1) {
      list.add(rows_from(row_at(next.head->q, layout.q_row, next.begin), layout.q_row, layout.head_dim,
                         next.end - next.begin));
    }
  }
  if (layout.out_feature == 1) {
    list.add(rows_from(row_at(head.out, layout.out_row, queries.begin), layout.out_row, layout.value_dim,
                       queries.end - queries.begin));
  }
  return list;
}

/// The biases of some queries and the block of `key`: each block reads a few cache lines of every row.
template <class Arch>
[[nodiscard]] reading_list rows_of_bias(const layout_for<Arch>& layout, const head_for<Arch>& head,
                                        const query_range& queries, std::size_t key) noexcept {
  reading_list list;
  if (head.bias == nullptr || layout.bias_query == 0 || layout.bias_key != 1 || key >= layout.keys) return list;
  list.add(rows_from(row_at(head.bias, layout.bias_query, queries.begin) + key, layout.bias_query,
                     min(block_keys, layout.keys - key), queries.end - queries.begin));
  return list;
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
