// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/rows.hpp -- vectorized rows: softmax, norms, sums, means, maxima and minima of what is
// contiguous.
//
// Layer: eval. History of the sums: 1 is the reference loop, a function called for each element; 2 folds registers: 20
// times as fast over the last dimension of [4, 512, 512] (sum 2890 to 141 us), 21 times over the middle one (2977 to
// 143 us), 13 times for minima there (AVX-512, one thread, g++-12 -O2, the least of 40 runs of `evaluate`).
// Tests: tests/eval/plan/plan.test.cpp, tests/eval/plan/operations.test.cpp
#pragma once

#include <dimwise/eval/kernels/elements.hpp>
#include <dimwise/eval/loops/rows.hpp>
#include <dimwise/support/library.hpp>
#include <dimwise/support/math.hpp>

#include <vector>

namespace dimwise::detail {

template <class How>
inline constexpr bool has_row_kernel =
    is_any_of<How, rows::softmax, rows::log_softmax, rows::standardize, rows::root_mean_square>;

template <class How, class Table, class T>
void call_rows(const Table& table, const kernels::rows_call_of<T>& call) {
  if constexpr (std::is_same_v<How, rows::softmax>) {
    table.softmax(call);
  } else if constexpr (std::is_same_v<How, rows::log_softmax>) {
    table.log_softmax(call);
  } else if constexpr (std::is_same_v<How, rows::standardize>) {
    table.standardize(call);
  } else if constexpr (std::is_same_v<How, rows::root_mean_square>) {
    table.root_mean_square(call);
  } else {
    static_assert(is_handled<How>, "dimwise: this operation over rows names no kernel (call_rows)");
  }
}

// Whether the kernel takes rows with these loops.
inline bool rows_fit(const row_loops& loops) {
  return !loops.inside.empty() && loops.inside.rank == 1 && loops.inside.stride[0][0] == 1 &&
         loops.inside.stride[1][0] == 1;
}

// For loops that fit.
template <class How, class T>
void run_rows(context& cx, const row_loops& loops, T* to, const T* from, T hidden, T epsilon, const T* gamma = nullptr,
              const T* beta = nullptr) {
  const auto& table = kernels::active_for<T>();
  kernels::rows_call_of<T> call;
  call.n = loops.inside.extent[0];
  call.hidden = hidden;
  call.epsilon = epsilon;
  call.gamma = gamma;
  call.beta = beta;
  const std::size_t rows_of_part = call.n >= part_elements ? 1 : part_elements / call.n;
  kernels::for_each_row(loops.outside, [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&s)[2]) {
    in_parts(cx, n, rows_of_part, [&](std::size_t begin, std::size_t end) {
      kernels::rows_call_of<T> part = call;
      part.rows = end - begin;
      part.in = from + o[1] + static_cast<std::ptrdiff_t>(begin) * s[1];
      part.in_row = s[1];
      part.out = to + o[0] + static_cast<std::ptrdiff_t>(begin) * s[0];
      part.out_row = s[0];
      call_rows<How>(table, part);
    });
  });
}

// ---- one element of a row ------------------------------------------------------------------------------------------

inline bool folds_rows(const row_loops& loops) {
  const std::size_t in = loops.inside.rank - 1;
  return loops.inside.rank > 0 && loops.inside.stride[1][in] == 1 && loops.inside.extent[in] >= least_row;
}
inline bool folds_columns(const row_loops& loops) {
  const std::size_t in = loops.outside.rank - 1;
  return loops.outside.rank > 0 && loops.outside.stride[0][in] == 1 && loops.outside.stride[1][in] == 1 &&
         loops.outside.extent[in] >= least_row;
}
inline bool fold_fits(const row_loops& loops) {
  return !loops.inside.empty() && !loops.outside.empty() && (folds_rows(loops) || folds_columns(loops));
}

// The Euclidean norm of two numbers; NaN if one is NaN.
inline float joined_norms(float a, float b) {  // a double holds the square of any float
  return static_cast<float>(math::sqrt(double{a} * double{a} + double{b} * double{b}));
}
inline double joined_norms(double a, double b) { return a != a || b != b ? a + b : math::hypot(a, b); }

template <kernels::total F, class T>
T joined_totals(T a, T b) {
  if constexpr (F == kernels::total::sum) {
    return a + b;
  } else if constexpr (F == kernels::total::max) {
    return fn::larger{}(a, b);
  } else if constexpr (F == kernels::total::norm) {
    return joined_norms(a, b);
  } else {
    static_assert(F == kernels::total::min, "dimwise: parts of this total are joined by nothing");
    return fn::smaller{}(a, b);
  }
}

// For loops that fit.
template <class How, class T>
void run_fold(context& cx, const row_loops& loops, T* to, const T* from) {
  constexpr kernels::total f = *total_code<How>;
  constexpr bool is_mean = std::is_same_v<How, totals::mean>;
  const auto& table = kernels::active_for<T>();
  const std::size_t elements = loops.inside.size();
  const auto number = static_cast<T>(elements);
  const std::size_t many = elements >= part_elements ? 1 : part_elements / elements;
  if (folds_rows(loops)) {
    const bool in_one_run = loops.inside.rank == 1;
    kernels::for_each_row(loops.outside, [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&s)[2]) {
      in_parts(cx, n, many, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const auto j = static_cast<std::ptrdiff_t>(i);
          T* const out = to + o[0] + j * s[0];
          const T* const in = from + o[1] + j * s[1];
          if (in_one_run) {
            const T total = table.fold_row(f, elements, in);
            *out = is_mean ? total / number : total;
            continue;
          }
          bool first = true;
          T total = 0;
          kernels::carried_sum<T> sum;
          kernels::for_each_row(loops.inside,
                                [&](const std::ptrdiff_t(&p)[2], std::size_t m, const std::ptrdiff_t(&)[2]) {
            const T part = table.fold_row(f, m, in + p[1]);
            if constexpr (f == kernels::total::sum) {
              sum += part;
            } else {
              total = first ? part : joined_totals<f>(total, part);
              first = false;
            }
          });
          if constexpr (f == kernels::total::sum) { total = sum.value(); }
          *out = is_mean ? total / number : total;
        }
      });
    });
    return;
  }
  // Sums of very many rows in several runs are carried; those of one run the kernel carries itself.
  const bool carries = f == kernels::total::sum && loops.inside.rank > 1 && elements > kernels::detail_loops::few_terms;
  using carried = kernels::carried_rows_of<T>;
  const typename carried::adder add = [](std::size_t n, T* sum, const T* x) {
    kernels::active_for<T>().zip(kernels::operation::add, n, sum, 1, x, 1, sum);
  };
  // Whole cache lines of columns for each part, the same for every executor.
  constexpr std::size_t line = 64;
  const std::size_t columns = (many + line - 1) / line * line;
  kernels::for_each_row(loops.outside, [&](const std::ptrdiff_t(&o)[2], std::size_t n, const std::ptrdiff_t(&)[2]) {
    in_parts(cx, n, columns, [&](std::size_t begin, std::size_t end) {
      constexpr std::size_t block = kernels::detail_loops::few_terms;
      const std::size_t levels = carries ? carried::levels(elements / block + 1) : 0;
      std::vector<T> memory(levels * (end - begin));
      carried sums(end - begin, end - begin, levels, memory.data());
      bool onto = false;
      std::size_t rows = 0;
      T* const out = to + o[0] + begin;
      kernels::for_each_row(loops.inside, [&](const std::ptrdiff_t(&p)[2], std::size_t m, const std::ptrdiff_t(&t)[2]) {
        table.fold_columns(f, m, end - begin, from + o[1] + begin + p[1], t[1], carries ? sums.row() : out, onto);
        onto = true;
        rows += m;
        if (carries && rows >= block) {
          sums.carry(add);
          rows = 0;
        }
      });
      if (carries) {
        sums.finish(add);
        for (std::size_t i = 0; i < end - begin; ++i) { out[i] = sums.row()[i]; }
      }
      if constexpr (is_mean) { table.zip(kernels::operation::divide, end - begin, out, 1, &number, 0, out); }
    });
  });
}

}  // namespace dimwise::detail
