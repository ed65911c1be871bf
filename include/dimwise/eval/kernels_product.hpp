// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels_product.hpp -- any contraction of float32 as matrix products.
//
// Layer: eval. Axes of one operand become rows, axes of the other columns, what both share is a list of products.
// Tests: tests/eval/plan.test.cpp
#pragma once

#include <dimwise/eval/kernels_elements.hpp>
#include <dimwise/eval/loops_product.hpp>

#include <utility>

namespace dimwise::detail {

// What the plain loops take, in multiply-adds: a sum begins and ends at the price of eight. Less than `least_product`
// they have done before a kernel has begun.
inline constexpr std::size_t least_product = 288;

constexpr std::size_t plain_work(const product_form& form, const axis* a, const axis* result) {
  std::size_t sums = 1;
  std::size_t numbers = 1;
  for (std::size_t i = 0; i < form.rank; ++i) { sums = saturating_product(sums, result[i].extent); }
  for (std::size_t i = 0; i < form.sums; ++i) { numbers = saturating_product(numbers, a[form.a.along_sums[i]].extent); }
  return numbers == 0 ? 0 : saturating_product(sums, numbers < least_product ? numbers + 8 : numbers);
}

// Axes of the result and of both operands, by what they are to a product.
struct product_axes {
  kernels::loop_nest<2> rows;     // result, a
  kernels::loop_nest<2> columns;  // result, b
  kernels::loop_nest<2> sums;     // a, b
  kernels::loop_nest<3> shared;   // result, a, b
};

constexpr product_axes sort_axes(const product_form& form, const axis* a, const axis* b, const axis* to) {
  product_axes axes;
  for (std::size_t i = 0; i < form.rank; ++i) {
    const std::size_t n = to[i].extent;
    const short in_a = form.a.along_result[i];
    const short in_b = form.b.along_result[i];
    if (in_a >= 0 && in_b >= 0) {
      axes.shared.add(n, {to[i].stride, a[in_a].stride, b[in_b].stride});
    } else if (in_a >= 0) {
      axes.rows.add(n, {to[i].stride, a[in_a].stride});
    } else {
      axes.columns.add(n, {to[i].stride, b[in_b].stride});
    }
  }
  for (std::size_t i = 0; i < form.sums; ++i) {
    const axis& x = a[form.a.along_sums[i]];
    axes.sums.add(x.extent, {x.stride, b[form.b.along_sums[i]].stride});
  }
  return axes;
}

// Loops over a group of axes, the innermost taken out for the kernel.
struct group_axis {
  std::size_t extent = 1;
  std::ptrdiff_t stride[2] = {0, 0};
};
constexpr group_axis take_innermost(kernels::loop_nest<2>& nest) {
  if (nest.rank == 0) { return {}; }
  --nest.rank;
  return {nest.extent[nest.rank], {nest.stride[0][nest.rank], nest.stride[1][nest.rank]}};
}

// The matrices of one product, a list of such products, and sums that go on from one to the next.
struct product_plan {
  kernels::product_call call;
  kernels::loop_nest<3> problems;  // result, a, b
  kernels::loop_nest<2> sums;      // a, b
  bool exchanged = false;          // C' = B' A': columns of the result must be contiguous
};

constexpr product_plan plan_product(product_axes axes) {
  product_plan plan;
  const group_axis m = take_innermost(axes.rows);
  const group_axis n = take_innermost(axes.columns);
  const group_axis k = take_innermost(axes.sums);
  for (std::size_t i = 0; i < axes.rows.rank; ++i) {
    axes.shared.add(axes.rows.extent[i], {axes.rows.stride[0][i], axes.rows.stride[1][i], 0});
  }
  for (std::size_t i = 0; i < axes.columns.rank; ++i) {
    axes.shared.add(axes.columns.extent[i], {axes.columns.stride[0][i], 0, axes.columns.stride[1][i]});
  }
  plan.problems = axes.shared;
  plan.sums = axes.sums;
  kernels::product_call& call = plan.call;
  call.m = m.extent;
  call.n = n.extent;
  call.k = k.extent;
  call.a_row = m.stride[1];
  call.a_column = k.stride[0];
  call.b_row = k.stride[1];
  call.b_column = n.stride[1];
  call.c_row = m.stride[0];
  call.c_column = n.stride[0];
  call.count = plan.problems.size();
  plan.exchanged = call.c_column != 1 && (call.c_row == 1 || call.n == 1);
  if (plan.exchanged) {
    std::swap(call.m, call.n);
    std::swap(call.a_row, call.b_column);
    std::swap(call.a_column, call.b_row);
    std::swap(call.c_row, call.c_column);
  }
  // A stride along an extent of 1 means nothing.
  if (call.n == 1) { call.b_column = call.c_column = 1; }
  return plan;
}

// Weights as the product kernel reads them, kept beside the tensor that they come from.
class packed_weights : public derived_copy {
 public:
  packed_weights(const kernels::table& table, const kernels::product_call& c, const float* b) : for_(key(table, c, b)) {
    elements_ = aligned_vector<float>(table.packed_bytes(c.k, c.n) / sizeof(float));
    table.pack(c.k, c.n, b, c.b_row, c.b_column, elements_.data());
  }
  [[nodiscard]] const float* elements_for(const kernels::table& table, const kernels::product_call& c,
                                          const float* b) const {
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
  static origin key(const kernels::table& table, const kernels::product_call& c, const float* b) {
    return {&table, b, c.k, c.n, c.b_row, c.b_column};
  }

  origin for_;
  aligned_vector<float> elements_;
};

// Below this number of rows the weights are read in place: packing pays where arithmetic is the bound.
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

// `residual` has the layout of c; the plan's epilogue says what is done with it.
inline void run_product(context& cx, const product_plan& plan, const lowered<float>& left, const lowered<float>& right,
                        float* c, const float* residual = nullptr) {
  kernels::product_call call = plan.call;
  if (call.count == 0 || call.m == 0 || call.n == 0) { return; }
  aligned_vector<kernels::product_call::pointers> problems(call.count);
  std::size_t at = 0;
  kernels::for_each_row(plan.problems, [&](const std::ptrdiff_t(&o)[3], std::size_t many, const std::ptrdiff_t(&s)[3]) {
    for (std::size_t i = 0; i < many; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      const float* x = left.data + o[1] + j * s[1];
      const float* y = right.data + o[2] + j * s[2];
      float* z = c + o[0] + j * s[0];
      problems[at++] = {plan.exchanged ? y : x, plan.exchanged ? x : y, z,
                        residual == nullptr ? z : residual + (z - c)};
    }
  });
  call.problems = problems.data();
  const kernels::table& table = kernels::active();
  if (plan.sums.rank == 0 && table.product_small(call)) { return; }
  aligned_vector<unsigned char> memory = scratch(table.product_bytes(call, cx.runner().worker_count()));
  if (call.count == 1 && plan.sums.rank == 0) {
    call.packed_b = packed_or_none(table, call, plan.exchanged ? left.derived : right.derived);
  }
  bool first = true;
  kernels::for_each_row(plan.sums, [&](const std::ptrdiff_t(&o)[2], std::size_t many, const std::ptrdiff_t(&s)[2]) {
    std::ptrdiff_t moved[2] = {o[0], o[1]};
    for (std::size_t i = 0; i < many; ++i) {
      aligned_vector<kernels::product_call::pointers> here;
      kernels::product_call part = call;
      if (moved[0] != 0 || moved[1] != 0) {
        here = problems;
        for (auto& p : here) {
          p.a += plan.exchanged ? moved[1] : moved[0];
          p.b += plan.exchanged ? moved[0] : moved[1];
        }
        part.problems = here.data();
      }
      if (!first) {
        part.epilogue.residual = true;
        part.residual_row = part.c_row;
        part.residual_column = part.c_column;
      }
      table.product(part, memory.data(), cx.runner());
      first = false;
      moved[0] += s[0];
      moved[1] += s[1];
    }
  });
}

// Whether all elements are finite; contiguous ones in groups of a constant count, which compilers turn into
// vectors.
inline bool all_finite(std::size_t rank, const axis* axes, const float* data) {
  std::ptrdiff_t strides[1][max_rank] = {};
  for (std::size_t i = 0; i < rank; ++i) { strides[0][i] = axes[i].stride; }
  unsigned others = 0;
  kernels::for_each_row(nest_over(rank, axes, strides),
                        [&](const std::ptrdiff_t(&o)[1], std::size_t n, const std::ptrdiff_t(&s)[1]) {
    constexpr std::size_t group = 64;
    const float* row = data + o[0];
    for (; s[0] == 1 && n >= group; row += group, n -= group) {
      for (std::size_t i = 0; i < group; ++i) { others |= static_cast<unsigned>(row[i] - row[i] != 0.0F); }
    }
    for (; n > 0; row += s[0], --n) { others |= static_cast<unsigned>(*row - *row != 0.0F); }
  });
  return others == 0;
}
inline extent_t count_of(std::size_t rank, const axis* axes) {
  extent_t n = 1;
  for (std::size_t i = 0; i < rank; ++i) { n *= axes[i].extent; }
  return n;
}

// Whether values of the score −∞, which the plain loops leave out, may have spoiled a product with weights: both the
// values and the result are not finite. The smaller is looked at first.
inline bool may_be_spoiled(const product_form& form, const lowered<float>& a, const lowered<float>& b,
                           target<float> to) {
  if (!form.a.gives_hidden_weights && !form.b.gives_hidden_weights) { return false; }
  if (form.a.gives_hidden_weights != form.b.gives_hidden_weights) {
    const lowered<float>& values = form.a.gives_hidden_weights ? b : a;
    const std::size_t rank = form.a.gives_hidden_weights ? form.b.rank : form.a.rank;
    if (count_of(rank, values.axes) < count_of(form.rank, to.axes) && all_finite(rank, values.axes, values.data)) {
      return false;
    }
  }
  return !all_finite(form.rank, to.axes, to.data);
}
// Whether the kernel is worth its beginning: there is enough to sum.
constexpr bool product_fits(const product_form& form, const axis* a, const axis* to) {
  return plain_work(form, a, to) >= least_product;
}
// The product by the kernel, and by the plain loops where these are done before a kernel has begun, and where a hidden
// value may have spoiled the kernel's result.
[[gnu::noinline]] inline void compute_product(context& cx, const product_form& form, target<float> to,
                                              const lowered<float>& a, const lowered<float>& b) {
  if (!cx.reference_forced() && product_fits(form, a.axes, to.axes)) {
    cx.count(plan_kind::product);
    run_product(cx, plan_product(sort_axes(form, a.axes, b.axes, to.axes)), a, b, to.data);
    if (!may_be_spoiled(form, a, b, to)) { return; }
  }
  cx.count(plan_kind::plain);
  product_loops(form, to, a, b);
}

// A strategy: the product of the children.
template <class N>
struct by_product_kernel {
  static constexpr bool matches = false;
};
template <class Shape, class Over, class A, class B>
struct by_product_kernel<contraction<Shape, Over, A, B>> {
  using node = contraction<Shape, Over, A, B>;
  static constexpr bool matches = is_float<A> && is_float<B>;
  static constexpr plan_kind kind = plan_kind::product;

  template <class Lowered>
  static bool fits(const node&, const axis* to, const Lowered& x) {
    return product_fits(form_of<node>, child_in<0>(x).axes, to);
  }
  template <class Lowered>
  [[gnu::always_inline]] static void compute(context& cx, const node&, target<float> to, const Lowered& x) {
    compute_product(cx, form_of<node>, to, child_in<0>(x), child_in<1>(x));
  }
};

}  // namespace dimwise::detail
