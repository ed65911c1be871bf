// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/fast_product.hpp -- the product plan: any contraction of float32 as matrix products.
//
// Layer: eval. Axes of one operand become rows, axes of the other columns, what both share is a list of products.
// Tests: tests/eval/plan.test.cpp, tests/eval/product.test.cpp
#pragma once

#include <dimwise/eval/execution.hpp>
#include <dimwise/eval/plain.hpp>

namespace dimwise::detail {

// Fewer multiply-adds than this are done before a kernel has begun.
inline constexpr std::size_t least_product = 1024;

// Loops over a group of axes, the innermost taken out for the kernel.
struct group_axis {
  std::size_t extent = 1;
  std::ptrdiff_t stride[2] = {0, 0};
};
inline group_axis take_innermost(kernels::loop_nest<2>& nest) {
  if (nest.rank == 0) { return {}; }
  --nest.rank;
  return {nest.extent[nest.rank], {nest.stride[0][nest.rank], nest.stride[1][nest.rank]}};
}

struct product_axes {
  kernels::loop_nest<2> rows;     // result, a
  kernels::loop_nest<2> columns;  // result, b
  kernels::loop_nest<2> sums;     // a, b
  kernels::loop_nest<3> shared;   // result, a, b
};

// Weights as the product kernel reads them, kept beside the tensor that they come from.
class packed_weights : public derived_copy {
 public:
  packed_weights(const kernels::table& table, const kernels::product_call& c, const float* b) : for_(key(table, c, b)), elements_(table.packed_bytes(c.k, c.n) / sizeof(float)) {
    table.pack(c.k, c.n, b, c.b_row, c.b_column, elements_.data());
  }
  [[nodiscard]] const float* elements_for(const kernels::table& table, const kernels::product_call& c, const float* b) const {
    return for_ == key(table, c, b) ? elements_.data() : nullptr;
  }

 private:
  struct origin {
    const kernels::table* table;
    const float* b;
    std::size_t k;
    std::size_t n;
    std::ptrdiff_t row;
    std::ptrdiff_t column;
    bool operator==(const origin&) const = default;
  };
  static origin key(const kernels::table& table, const kernels::product_call& c, const float* b) { return {&table, b, c.k, c.n, c.b_row, c.b_column}; }

  origin for_;
  aligned_vector<float> elements_;
};

// Fewer rows than this read the weights where they lie: packing is for products that arithmetic bounds.
inline constexpr std::size_t least_packed_rows = 16;

inline const float* packed_or_none(const kernels::table& table, const kernels::product_call& c, derived_slot* slot) {
  if (slot == nullptr || c.m < least_packed_rows || c.k == 0 || c.n < 8) { return nullptr; }
  const float* b = c.problems[0].b;
  const derived_copy* kept = slot->get();
  if (kept == nullptr) {
    if (!slot->used_before()) { return nullptr; }
    kept = slot->offer(new packed_weights(table, c, b));
  }
  return static_cast<const packed_weights*>(kept)->elements_for(table, c, b);
}

// The products of one matrix pair for every element of `shared`, summed over what is left of `sums`.
inline void run_product(product_axes& axes, const lowered<float>& left, const lowered<float>& right, float* c) {
  const float* a = left.data;
  const float* b = right.data;
  group_axis m = take_innermost(axes.rows);
  group_axis n = take_innermost(axes.columns);
  const group_axis k = take_innermost(axes.sums);
  for (std::size_t i = 0; i < axes.rows.rank; ++i) {
    const std::ptrdiff_t by[3] = {axes.rows.stride[0][i], axes.rows.stride[1][i], 0};
    axes.shared.add(axes.rows.extent[i], by);
  }
  for (std::size_t i = 0; i < axes.columns.rank; ++i) {
    const std::ptrdiff_t by[3] = {axes.columns.stride[0][i], 0, axes.columns.stride[1][i]};
    axes.shared.add(axes.columns.extent[i], by);
  }
  kernels::product_call call;
  call.m = m.extent;
  call.n = n.extent;
  call.k = k.extent;
  call.a_row = m.stride[1];
  call.a_column = k.stride[0];
  call.b_row = k.stride[1];
  call.b_column = n.stride[1];
  call.c_row = m.stride[0];
  call.c_column = n.stride[0];
  // Columns of the result lie next to each other: otherwise the operands change places, C' = B' A'.
  const bool exchange = call.c_column != 1 && (call.c_row == 1 || call.n == 1);
  if (exchange) {
    std::swap(call.m, call.n);
    std::swap(call.a_row, call.b_column);
    std::swap(call.a_column, call.b_row);
    std::swap(call.c_row, call.c_column);
  }
  aligned_vector<kernels::product_call::pointers> problems;
  std::size_t count = 1;
  for (std::size_t i = 0; i < axes.shared.rank; ++i) { count *= axes.shared.extent[i]; }
  if (count == 0 || call.m == 0 || call.n == 0) { return; }
  problems.resize(count);
  std::size_t at = 0;
  kernels::for_each_row(axes.shared, [&](const std::ptrdiff_t(&o)[3], std::size_t many, const std::ptrdiff_t(&s)[3]) {
    for (std::size_t i = 0; i < many; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      const float* x = a + o[1] + j * s[1];
      const float* y = b + o[2] + j * s[2];
      float* z = c + o[0] + j * s[0];
      problems[at++] = {exchange ? y : x, exchange ? x : y, z, z};
    }
  });
  call.problems = problems.data();
  call.count = count;
  const kernels::table& table = kernels::active();
  void* memory = scratch(table.product_bytes(call, current_runner.worker_count()));
  if (count == 1 && axes.sums.rank == 0) { call.packed_b = packed_or_none(table, call, exchange ? left.derived : right.derived); }
  bool first = true;
  kernels::for_each_row(axes.sums, [&](const std::ptrdiff_t(&o)[2], std::size_t many, const std::ptrdiff_t(&s)[2]) {
    std::ptrdiff_t moved[2] = {o[0], o[1]};
    for (std::size_t i = 0; i < many; ++i) {
      aligned_vector<kernels::product_call::pointers> here;
      kernels::product_call part = call;
      if (moved[0] != 0 || moved[1] != 0) {
        here = problems;
        for (auto& p : here) {
          p.a += exchange ? moved[1] : moved[0];
          p.b += exchange ? moved[0] : moved[1];
        }
        part.problems = here.data();
      }
      if (!first) {
        part.epilogue.residual = true;
        part.residual_row = part.c_row;
        part.residual_column = part.c_column;
      }
      table.product(part, memory, current_runner);
      first = false;
      moved[0] += s[0];
      moved[1] += s[1];
    }
  });
}

template <class Over, class ResultAxes, class AAxes, class BAxes>
bool multiply(const lowered<float>& a, const lowered<float>& b, const axis* result, target<float> to) {
  using sums = axes_of_list_t<Over>;
  std::ptrdiff_t in_a[max_rank] = {};
  std::ptrdiff_t in_b[max_rank] = {};
  align<ResultAxes, AAxes>(a.axes, in_a);
  align<ResultAxes, BAxes>(b.axes, in_b);
  constexpr const short* a_at = places<ResultAxes, AAxes>::at;
  constexpr const short* b_at = places<ResultAxes, BAxes>::at;
  product_axes axes;
  std::size_t work = 1;
  for (std::size_t i = 0; i < ResultAxes::size; ++i) {
    const std::size_t n = result[i].extent;
    work *= n;
    if (a_at[i] >= 0 && b_at[i] >= 0) {
      axes.shared.add(n, {to.axes[i].stride, in_a[i], in_b[i]});
    } else if (a_at[i] >= 0) {
      axes.rows.add(n, {to.axes[i].stride, in_a[i]});
    } else {
      axes.columns.add(n, {to.axes[i].stride, in_b[i]});
    }
  }
  constexpr const short* sum_at = places<sums, AAxes>::at;
  constexpr const short* sum_at_b = places<sums, BAxes>::at;
  for (std::size_t i = 0; i < sums::size; ++i) {
    const axis& x = a.axes[sum_at[i]];
    work *= x.extent;
    axes.sums.add(x.extent, {x.stride, b.axes[sum_at_b[i]].stride});
  }
  // Nothing to sum, or little: the plain loops are done before a kernel has begun.
  if (work < least_product || axes.sums.empty()) { return false; }
  count_plan(plan_kind::product);
  run_product(axes, a, b, to.data);
  return true;
}

}  // namespace dimwise::detail
