// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/plan/steps.hpp -- the steps of an evaluation, as a value and in words.
//
// Layer: eval.
// Tests: tests/eval/plan/plan.test.cpp
#pragma once

#include <dimwise/eval/context.hpp>
#include <dimwise/support/library.hpp>

#include <string>
#include <vector>

namespace dimwise {

/// One pass over memory: what runs, and what it gives.
struct plan_step {
  plan_kind kind = plan_kind::plain;
  std::string operation;  ///< as it is called in the expression, with what is done in the same pass
  std::string result;     ///< its dimensions and extents
};

/// How an expression is evaluated: its steps in the order in which they run.
class evaluation_plan {
 public:
  /// The steps, the first to run first.
  [[nodiscard]] const std::vector<plan_step>& steps() const { return steps_; }
  /// How many steps are of one kind.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY std::size_t operator[](plan_kind k) const;
  /// One line for each step: kind, operation, result.
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY std::string text() const;
  /// One more step, after the others.
  DIMWISE_DETAIL_LIBRARY void add(plan_step s);

 private:
  std::vector<plan_step> steps_{};
};

}  // namespace dimwise

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/plan/steps_definitions.hpp>
#endif
