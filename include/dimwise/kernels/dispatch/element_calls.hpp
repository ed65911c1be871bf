// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/dispatch/element_calls.hpp -- the entries of the table for rows and elementwise functions: a function
// that is chosen at run time becomes a call of its kernel.
//
// Layer: kernels. Included by implementation.hpp.
// Tests: tests/dispatch/, tests/kernels/rows/
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/table.hpp>
#include <dimwise/kernels/map.hpp>
#include <dimwise/kernels/math.hpp>
#include <dimwise/kernels/rows/forward.hpp>
#include <dimwise/kernels/rows/reduce.hpp>

#include <cstddef>

// A value that a switch does not handle fails to compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

// A function selected at run time: one branch per register, with one outcome throughout a call.
template <class Arch>
[[gnu::always_inline]] inline floats<Arch> apply(function f, const floats<Arch>& x) noexcept {
  switch (f) {
#define DIMWISE_DETAIL_CASE(word) \
  case function::word:            \
    return word##_of{}(x);
    DIMWISE_DETAIL_ACTIVATIONS(DIMWISE_DETAIL_CASE)
#undef DIMWISE_DETAIL_CASE
#define DIMWISE_DETAIL_CASE(word) case function::word:
    case function::none:
      DIMWISE_DETAIL_OTHER_FUNCTIONS(DIMWISE_DETAIL_CASE)
      break;  // not in epilogues: only `map_all` has them
#undef DIMWISE_DETAIL_CASE
  }
  return x;
}

template <class T, class Body>
void each_row(const rows_call_of<T>& c, const Body& body) {
  for (std::size_t r = 0; r < c.rows; ++r) {
    body(c.in + static_cast<std::ptrdiff_t>(r) * c.in_row, c.out + static_cast<std::ptrdiff_t>(r) * c.out_row);
  }
}
template <class Arch>
void softmax_rows(const rows_call_of<element_of<Arch>>& c) {
  each_row(c, [&](const element_of<Arch>* in, element_of<Arch>* out) { softmax_row<Arch>(c.n, in, out, c.hidden); });
}
template <class Arch>
void log_softmax_rows(const rows_call_of<element_of<Arch>>& c) {
  each_row(c, [&](const element_of<Arch>* in, element_of<Arch>* out) { log_softmax_row<Arch>(c.n, in, out); });
}
template <class Arch>
void standardize_rows(const rows_call_of<element_of<Arch>>& c) {
  each_row(c, [&](const element_of<Arch>* in, element_of<Arch>* out) {
    layer_norm_row<Arch>(c.n, in, out, c.epsilon, c.gamma, c.beta);
  });
}
template <class Arch>
void root_mean_square_rows(const rows_call_of<element_of<Arch>>& c) {
  each_row(c, [&](const element_of<Arch>* in, element_of<Arch>* out) {
    rms_norm_row<Arch>(c.n, in, out, c.epsilon, c.gamma);
  });
}
template <class Arch>
void map_all(function f, std::size_t n, const element_of<Arch>* in, element_of<Arch>* out) {
  switch (f) {
#define DIMWISE_DETAIL_CASE(word) \
  case function::word:            \
    return map_floats<Arch>(n, in, out, word##_of{});
    DIMWISE_DETAIL_OTHER_FUNCTIONS(DIMWISE_DETAIL_CASE)
#undef DIMWISE_DETAIL_CASE
#define DIMWISE_DETAIL_CASE(word) case function::word:
    case function::none:
      DIMWISE_DETAIL_ACTIVATIONS(DIMWISE_DETAIL_CASE)
      break;
#undef DIMWISE_DETAIL_CASE
  }
  map_floats<Arch>(n, in, out, [f](const floats<Arch>& x) { return apply<Arch>(f, x); });
}

template <class Arch, class F>
void zip_with(std::size_t n, const element_of<Arch>* a, std::ptrdiff_t a_step, const element_of<Arch>* b,
              std::ptrdiff_t b_step, element_of<Arch>* out, const F& f) {
  if (a_step == 1 && b_step == 1) { return zip_floats<Arch>(n, a, b, out, f); }
  if (a_step == 1) { return zip_number<Arch>(n, a, *b, out, f); }
  const floats<Arch> x = broadcast<Arch>(*a);
  if (b_step == 1) {
    return map_floats<Arch>(n, b, out, [&](const floats<Arch>& y) { return f(x, y); });
  }
  const floats<Arch> both = f(x, broadcast<Arch>(*b));
  map_floats<Arch>(n, out, out, [&](const floats<Arch>&) { return both; });
}
template <class Arch>
void zip_all(operation f, std::size_t n, const element_of<Arch>* a, std::ptrdiff_t a_step, const element_of<Arch>* b,
             std::ptrdiff_t b_step, element_of<Arch>* out) {
  switch (f) {
#define DIMWISE_DETAIL_CASE(word, ...) \
  case operation::word:                \
    return zip_with<Arch>(n, a, a_step, b, b_step, out, __VA_ARGS__{});
    DIMWISE_DETAIL_CASE(add, add_of)
    DIMWISE_DETAIL_CASE(subtract, subtract_of)
    DIMWISE_DETAIL_CASE(multiply, multiply_of)
    DIMWISE_DETAIL_CASE(divide, divide_of)
    DIMWISE_DETAIL_CASE(max, max_of)
    DIMWISE_DETAIL_CASE(min, min_of)
    DIMWISE_DETAIL_CASE(hide, hide_of)
    DIMWISE_DETAIL_CASE(send_times, sent_of<multiply_of>)
    DIMWISE_DETAIL_CASE(send_divided, sent_of<divide_of>)
#undef DIMWISE_DETAIL_CASE
  }
}
template <class Arch>
void compare_all(relation f, std::size_t n, const element_of<Arch>* a, std::ptrdiff_t a_step, const element_of<Arch>* b,
                 std::ptrdiff_t b_step, bool* out) {
  using vec = floats<Arch>;
  switch (f) {
    case relation::less:
      return compare_floats<Arch>(n, a, a_step, b, b_step, out, [](const vec& x, const vec& y) { return x < y; });
    case relation::less_equal:
      return compare_floats<Arch>(n, a, a_step, b, b_step, out, [](const vec& x, const vec& y) { return x <= y; });
    case relation::equal:
      return compare_floats<Arch>(n, a, a_step, b, b_step, out, [](const vec& x, const vec& y) { return x == y; });
    // Not the registers' `!=`, which is false for NaN on some machines.
    case relation::not_equal:
      return compare_floats<Arch, true>(n, a, a_step, b, b_step, out,
                                        [](const vec& x, const vec& y) { return x == y; });
  }
}
template <class Arch>
element_of<Arch> fold_row_by(total f, std::size_t n, const element_of<Arch>* in) {
  switch (f) {
    case total::sum:
      return sum_row<Arch>(n, in);
    case total::max:
      return max_row<Arch>(n, in);
    case total::min:
      return min_row<Arch>(n, in);
    case total::norm:
      break;
  }
  return norm_row<Arch>(n, in);
}
template <class Arch>
void fold_columns_by(total f, std::size_t extent, std::size_t columns, const element_of<Arch>* in,
                     std::ptrdiff_t stride, element_of<Arch>* out, bool onto) {
  switch (f) {
    case total::sum:
      return sum_columns<Arch>(extent, columns, in, stride, out, onto);
    case total::max:
      return max_columns<Arch>(extent, columns, in, stride, out, onto);
    case total::min:
      return min_columns<Arch>(extent, columns, in, stride, out, onto);
    case total::norm:
      return norm_columns<Arch>(extent, columns, in, stride, out, onto);
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail

#pragma GCC diagnostic pop
