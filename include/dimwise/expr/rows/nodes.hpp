// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/rows/nodes.hpp -- the nodes of rows and reductions: what becomes of the elements of named dimensions.
//
// Layer: expr.
// Tests: tests/expr/rows/reduce.test.cpp
#pragma once

#include <dimwise/expr/elements/elementwise.hpp>
#include <dimwise/expr/node.hpp>

namespace dimwise::detail {

// The values that the gradient of an operation reads besides the gradient of the result; `none`: it has none (R21).
enum class backward_reads : unsigned char {
  none,
  operand,  // the row as it was
  result,   // what it became
  formula   // what the operations read of which the gradient is made
};
// How a row (all elements of the dimensions `Over`) becomes a row of the same length, and how it becomes one number:
// what it is called, in words, and what its gradient reads. The library compiles each of them
// (eval/records/rows_definitions.hpp).
#define DIMWISE_DETAIL_ROWS(ROW)             \
  ROW(softmax, "softmax", result)            \
  ROW(log_softmax, "log_softmax", result)    \
  ROW(renormalise, "renormalise", operand)   \
  ROW(standardize, "standardize", operand)   \
  ROW(root_mean_square, "rms_norm", operand) \
  ROW(cumsum, "cumsum", operand)             \
  ROW(cumprod, "cumprod", operand)           \
  ROW(quantised, "quantised", none)
#define DIMWISE_DETAIL_TOTALS(TOTAL)     \
  TOTAL(sum, "sum", operand)             \
  TOTAL(mean, "mean", operand)           \
  TOTAL(max, "max", operand)             \
  TOTAL(min, "min", operand)             \
  TOTAL(logsumexp, "logsumexp", formula) \
  TOTAL(norm, "norm", operand)           \
  TOTAL(prod, "prod", operand)
#define DIMWISE_DETAIL_NAMED(word, text, reads)                       \
  struct word {                                                       \
    static constexpr const char* name = text;                         \
    static constexpr backward_reads backward = backward_reads::reads; \
  };
namespace rows {
DIMWISE_DETAIL_ROWS(DIMWISE_DETAIL_NAMED)
}  // namespace rows
namespace totals {
DIMWISE_DETAIL_TOTALS(DIMWISE_DETAIL_NAMED)
DIMWISE_DETAIL_NAMED(argmax, "argmax", none)  // of ids, not of numbers
}  // namespace totals
#undef DIMWISE_DETAIL_NAMED

// Each row over `Over` becomes a row of the same length.
template <class How, class Over>
struct rows_over {
  static constexpr const char* name = How::name;
  using how = How;
  using over = Over;
  double epsilon = 0;
};
template <class Shape, class How, class Over, class E>
using rowwise = node<rows_over<How, Over>, Shape, value_of<E>, E>;
template <class Shape, class How, class Over, class E>
auto make_rows(const E& e, double epsilon = 0) {
  return rowwise<Shape, How, Over, E>({epsilon}, e.extents(), e);
}

// Each row over `Over` becomes one element.
template <class How, class Over>
struct total_over {
  static constexpr const char* name = How::name;
  using how = How;
  using over = Over;
};
template <class Shape, class T, class How, class Over, class E>
using reduction = node<total_over<How, Over>, Shape, T, E>;
template <class Shape, class T, class How, class Over, class E>
auto make_total(const E& e) {
  return reduction<Shape, T, How, Over, E>({}, extents_from<Shape>(How::name, e.extents()), e);
}

// The elements of the whole dimension of which D is a part. It is static, or the one that was given.
template <class D, class Extents, class... Whole>
extent_t whole_extent(const Extents& e, const Whole&... given) {
  const extent_t here = e.template extent<D>();
  if constexpr (!is_sharded<D>) {
    return here;
  } else if constexpr (whole_t<D>::static_extent != at_run_time) {
    return whole_t<D>::static_extent;
  } else {
    const extent_t whole = (given.extent(), ...);
    if (here > whole) { throw_part_beyond_whole("mean", here, whole, &dimension_name<D>); }
    return whole;
  }
}
// One rank's term of the mean over dimensions that several ranks share: its sum, divided by the number of all elements.
template <class Verdict, class... D, class X, class... Whole>
auto make_term_of_mean(const X& x, const Whole&... given) {
  using shape = typename Verdict::shape;
  const extent_t count =
      checked_product("mean", &dimension_name<merged<D...>>, {whole_extent<D>(x.extents(), given...)...});
  const auto sum = make_total<shape, value_of<X>, totals::sum, list<D...>>(x);
  return make_with_marks<shape>(sum / static_cast<double>(count == 0 ? 1 : count));
}

// An element of several dimensions is named by the id of their product, which `split_ids` takes apart.
template <class... D>
struct id_over {
  using type = id<merged<D...>>;
};
template <class D>
struct id_over<D> {
  using type = id<D>;
};

}  // namespace dimwise::detail
