// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/marks_table/row.hpp -- a row of the table of marks, and the operations that keep every mark.
//
// Layer: shape.
// Tests: tests/shape/marks.test.cpp
#pragma once

#include <dimwise/shape/marks_table/operations.hpp>
#include <dimwise/shape/shape.hpp>

namespace dimwise::detail {

// The effect of an operation on a mark of its operand.
enum class effect : unsigned char {
  keep,     // the result has it too
  drop,     // it ends here
  refuse,   // the operation does not take such an operand
  weaken,   // normalised becomes weighted
  by_rule,  // the operation's rule decides, as `note` says
};

struct mark_row {
  effect raw = effect::keep;
  effect score = effect::keep;
  effect masked_for = effect::keep;
  effect biased_for = effect::keep;
  effect normalised = effect::keep;
  effect weighted = effect::keep;
  effect log_normalised = effect::keep;
  effect rotated = effect::keep;
  effect indexed = effect::keep;
  effect partial = effect::refuse;  // what does not say that it is linear is not
  const char* sets = "";
  const char* needs = "";
  const char* note = "";
};

// Operations that keep every mark. A new operation has a row, or is named here.
template <class Op>
inline constexpr bool keeps_every_mark =
    is_any_of<Op, op::rename, op::relabel, op::permute, op::split, op::merge, op::append, op::linear_attention,
              op::skew, op::padding, op::allow, op::block, op::whole_rows, op::mask_and, op::mask_or, op::causal,
              op::window, op::prefix, op::document, op::dequantised>;

// Of these, the views of elements, which are linear.
template <class Op>
inline constexpr bool keeps_partial = is_any_of<Op, op::rename, op::relabel, op::permute, op::split, op::merge>;

template <class Op>
inline constexpr mark_row marks_row = [] {
  static_assert(keeps_every_mark<Op>, "dimwise: this operation has no row in the table of marks");
  mark_row row;
  if (keeps_partial<Op>) { row.partial = effect::keep; }
  return row;
}();

using enum effect;

}  // namespace dimwise::detail
