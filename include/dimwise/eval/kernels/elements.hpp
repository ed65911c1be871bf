// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/elements.hpp -- when and how kernels take elements that are contiguous in memory, and
// vectorized comparisons; eval/records/elements_definitions.hpp has all else.
//
// Layer: eval. History: 1 is the reference loop; 2 takes rows through the kernels, several of them for a part of a row
// while it is in the first cache: clamp 4.8 times as fast, max(x, 0) 4.1, where(x > c, x, 0) 2.4 (a million elements,
// AVX-512, one thread, g++-12 -O2, the least of 40 runs of `evaluate`).
// Tests: tests/eval/plan/plan.test.cpp, tests/eval/plan/operations.test.cpp
#pragma once

#include <dimwise/eval/kernels/codes.hpp>
#include <dimwise/eval/loops/elements.hpp>
#include <dimwise/expr/elements/elementwise.hpp>
#include <dimwise/support/library.hpp>

namespace dimwise::detail {

// A kernel's own overhead is worth a dozen elements.
inline constexpr std::size_t least_row = 16;

// Elements of a part that several kernels go over.
inline constexpr std::size_t cached_part = part_elements / 4;

// Whether kernels take these loops: enough elements, the innermost ones contiguous. One of several operands may be the
// same number for all of those; bools have any step.
template <std::size_t K>
bool elements_fit(const kernels::loop_nest<K>& nest, const bool* any_step) {
  if (nest.rank == 0 || nest.empty()) { return false; }
  const std::size_t in = nest.rank - 1;
  if (nest.extent[in] < least_row || nest.stride[0][in] != 1) { return false; }
  for (std::size_t k = 1; k < K; ++k) {
    const bool same = K > 2 && nest.stride[k][in] == 0;
    if (nest.stride[k][in] != 1 && !same && !any_step[k - 1]) { return false; }
  }
  return true;
}

inline constexpr bool no_any_step[3] = {};

// Rows of contiguous elements in parts: `f(n, offsets, steps)`.
template <std::size_t K, class F>
void run_parts(context& cx, const kernels::loop_nest<K>& nest, std::size_t elements, const F& f) {
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[K], std::size_t n, const std::ptrdiff_t(&s)[K]) {
    in_parts(cx, n, elements, [&](std::size_t begin, std::size_t end) {
      std::ptrdiff_t at[K];
      for (std::size_t k = 0; k < K; ++k) { at[k] = o[k] + static_cast<std::ptrdiff_t>(begin) * s[k]; }
      f(end - begin, at, s);
    });
  });
}

// Comparisons of contiguous elements. One function for all names.
template <class C>
[[gnu::noinline]] void compare_rows(context& cx, kernels::relation relation, const kernels::loop_nest<3>& nest,
                                    bool* to, const C* a, const C* b) {
  run_parts(cx, nest, cached_part, [&](std::size_t n, const std::ptrdiff_t* at, const std::ptrdiff_t* step) {
    kernels::active_for<C>().compare(relation, n, a + at[1], step[1], b + at[2], step[2], to + at[0]);
  });
}
template <class N>
inline constexpr bool is_comparison = false;
template <class Shape, class F, class A, class B>
  requires(relation_of<F>::known)
inline constexpr bool is_comparison<elementwise<Shape, bool, F, A, B>> = is_float<A> && is_float<B>;
template <class Shape, class F, class A, class B, class Lowered>
void compare(context& cx, const elementwise<Shape, bool, F, A, B>&, kernels::loop_nest<3> nest, bool* to,
             const Lowered& x) {
  constexpr std::size_t a = relation_of<F>::first;
  if constexpr (a == 1) {
    for (std::size_t i = 0; i < nest.rank; ++i) { std::swap(nest.stride[1][i], nest.stride[2][i]); }
  }
  compare_rows(cx, relation_of<F>::code, nest, to, child_in<a>(x).data, child_in<1 - a>(x).data);
}

#if DIMWISE_DETAIL_HAS_LIBRARY
DIMWISE_DETAIL_LIBRARY_TEMPLATE void compare_rows<float>(context&, kernels::relation, const kernels::loop_nest<3>&,
                                                         bool*, const float*, const float*);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void compare_rows<double>(context&, kernels::relation, const kernels::loop_nest<3>&,
                                                          bool*, const double*, const double*);
#endif

}  // namespace dimwise::detail
