// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/backward.hpp -- the nodes that only the backward pass needs: gradients of rows, of totals, of views.
//
// Layer: expr. A gradient has the dimensions of what it belongs to and no marks. Everything else in the backward pass
// is written with the nodes of the forward pass (grad/operations/adjoint.hpp).
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

// The gradient of a row's elements, from that of the row it became. The second child is the row as it was, or, of
// softmax and log_softmax, what it became.
template <class How, class Over>
struct rows_back {
  static constexpr const char* name = How::name;
  using how = How;
  using over = Over;
  double epsilon = 0;
};
template <class How>
inline constexpr bool keeps_result = How::backward == backward_reads::result;
template <class How>
inline constexpr bool keeps_operand = How::backward == backward_reads::operand;

// The gradient of a row's elements, from that of their total: children are the gradient and the row as it was.
template <class How, class Over, bool Masked>
struct total_back {
  static constexpr const char* name = How::name;
  using how = How;
  using over = Over;
};

// The gradient of an operand of which a view was read: what was read more than once is added up, what was not is 0.
template <class How, class View>
struct view_back {
  static constexpr const char* name = How::name;
  How how;
  extents_for<View> view;  // the extents of what was read
};

// The gradient of a table of which rows were read by ids: children are the gradients of the rows, and the ids.
template <class D>
struct gather_back {
  static constexpr const char* name = "scatter_add";
  using over = list<D>;
};
template <class Shape, class D, class Values, class Ids>
using gather_back_node = node<gather_back<D>, Shape, value_of<Values>, Values, Ids>;

// Q·K -> Q·R by distance: the reverse of skew.
template <class Q, class R, class K>
struct skew_back {
  static constexpr const char* name = "skew";
  std::ptrdiff_t first;  // the element of R that query 0 and key 0 read
};

}  // namespace dimwise::detail
