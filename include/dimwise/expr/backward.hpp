// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/backward.hpp -- nodes of adjoints: the gradients of tables and of relative positions.
//
// Layer: expr. A gradient has the dimensions of what it belongs to and no marks.
// Tests: tests/grad/
#pragma once

#include <dimwise/expr/elements/elementwise.hpp>
#include <dimwise/expr/positions/positions.hpp>
#include <dimwise/expr/rows/reduce.hpp>
#include <dimwise/expr/untracked.hpp>

namespace dimwise::detail {

template <class Q, class K, class R, class Table, class Bucket>
struct untracked_operand<relative_bias_of<Q, K, R, Table, Bucket>> {
  static auto of(const relative_bias_of<Q, K, R, Table, Bucket>& b) {
    const auto& table = untracked_of(b.table());
    return relative_bias_of<Q, K, R, std::remove_cvref_t<decltype(table)>, Bucket>(table, b.bucket(), b);
  }
};

// The dimensions of X without its marks.
template <class X>
using gradient_shape = make_shape_t<dims_t<shape_of<X>>, list<>>;

// The gradient of a table of which rows were read by ids: children are the gradients of the rows, and the ids.
DIMWISE_DETAIL_ALONG(gather_back, "scatter_add")
template <class Shape, class D, class Values, class Ids>
using gather_back_node = node<gather_back<D>, Shape, value_of<Values>, Values, Ids>;

// Q·K -> Q·R by distance: the reverse of skew.
template <class Q, class R, class K>
struct skew_back {
  static constexpr const char* name = "skew";
  std::ptrdiff_t first;  // the element of R that query 0 and key 0 read
};

}  // namespace dimwise::detail
