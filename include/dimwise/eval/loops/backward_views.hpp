// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops/backward_views.hpp -- the gradient of a view: its elements added to those of the operand.
//
// Layer: eval.
// Tests: tests/grad/operations/views.test.cpp, tests/grad/operations/long_sums.test.cpp
#pragma once

#include <dimwise/eval/lowering/layout.hpp>

#include <vector>

namespace dimwise::detail {

// How many elements of a view may be one element of its operand, which is the first pointer. From the largest step
// down: each axis reaches an element from as many places as what is left moves by steps of it.
template <std::size_t K>
std::size_t most_terms(const kernels::loop_nest<K>& nest) {
  axis axes[max_rank];
  for (std::size_t i = 0; i < nest.rank; ++i) {  // sorted by their steps
    const axis next{nest.extent[i], nest.stride[0][i] < 0 ? -nest.stride[0][i] : nest.stride[0][i]};
    std::size_t place = i;
    for (; place > 0 && next.stride < axes[place - 1].stride; --place) { axes[place] = axes[place - 1]; }
    axes[place] = next;
  }
  std::size_t most = 1;
  std::size_t span = 0;  // of the axes with smaller steps
  for (std::size_t i = 0; i < nest.rank; ++i) {
    const auto step = static_cast<std::size_t>(axes[i].stride);
    const std::size_t extent = axes[i].extent;
    most = saturating_product(most, step == 0 || extent < span / step + 1 ? extent : span / step + 1);
    span += extent == 0 ? 0 : (extent - 1) * step;
  }
  return most;
}

// The elements of a view added to those of its operand that they are; add(n, sums, step, from, step) adds a row. Where
// one element is very many of the view's, blocks of rows have sums of their own.
template <class T, class Add>
void add_view(const kernels::loop_nest<2>& nest, T* sums, const T* g, const Add& add) {
  constexpr std::size_t block = 128;
  const bool is_long = most_terms(nest) > kernels::detail_loops::few_terms;
  std::vector<added_row> rows;
  std::vector<T> part;
  const auto finish = [&](std::size_t count, const std::ptrdiff_t(&s)[2]) {
    std::ptrdiff_t low = rows[0].to;
    std::ptrdiff_t high = low;
    for (const added_row& row : rows) {
      if (row.to < low) { low = row.to; }
      if (row.to > high) { high = row.to; }
    }
    const std::ptrdiff_t along = static_cast<std::ptrdiff_t>(count - 1) * s[0];
    (along < 0 ? low : high) += along;
    const std::ptrdiff_t first = low;
    const auto size = static_cast<std::size_t>(high - low) + 1;
    // Few of the elements between them are theirs: these rows do not meet.
    const bool apart = size / 4 > rows.size() * count;
    part.assign(apart ? 0 : size, T(0));
    for (const added_row& row : rows) {
      add(count, (apart ? sums + row.to : part.data() + (row.to - first)), s[0], g + row.from, s[1]);
    }
    if (!apart) { add(size, sums + first, 1, part.data(), 1); }
    rows.clear();
  };
  std::size_t inner = 0;
  std::ptrdiff_t steps[2] = {};
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[2], std::size_t count, const std::ptrdiff_t(&s)[2]) {
    if (!is_long) { return add(count, sums + o[0], s[0], g + o[1], s[1]); }
    inner = count;
    steps[0] = s[0];
    steps[1] = s[1];
    rows.push_back({o[0], o[1]});
    if (rows.size() == block) { finish(count, s); }
  });
  if (!rows.empty()) { finish(inner, steps); }
}

}  // namespace dimwise::detail
