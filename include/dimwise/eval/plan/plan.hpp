// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/plan/plan.hpp -- plan(expr): how an expression would be evaluated, as a value and in words.
//
// Layer: eval. The walk that evaluates (eval/pass.hpp) with layouts and no memory: it decides as the evaluator does.
// Tests: tests/eval/plan/plan.test.cpp
//
//   std::cout << plan(contract<key>(softmax<key>(scores<d_k>(q, k)), v)).text();  // attention heads[8] seq[5] d_v[64]
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/eval/plan/steps.hpp>
#include <dimwise/expr/explain/explain.hpp>

namespace dimwise {

namespace detail {

// The pass of a plan: the evaluator's own walk with layouts and no memory.
struct planning_pass {
  context& cx;
  evaluation_plan& to;

  static constexpr bool computes = false;
  template <class N, class Words>
  void note(plan_kind k, const N& n, const Words& words) {
    to.add({k, words(), describe(n)});
  }
};

}  // namespace detail

namespace no_adl {

/// How `evaluate(value)` would compute an expression of float or double, step by step; no element is read or written,
/// and no memory of their number is used.
///
/// `plans_run()` counts what has run instead.
template <expression E>
  requires(std::is_same_v<detail::value_of<E>, float> || std::is_same_v<detail::value_of<E>, double>)
[[nodiscard]] evaluation_plan plan(const E& value) {
  using axes = detail::axes_for<detail::shape_of<E>>;
  evaluation_plan result;
  detail::axis to[detail::max_rank];
  detail::axis_extents<axes>::write_contiguous(value.extents(), to);
  detail::planning_pass pass{current_context(), result};
  [[maybe_unused]] const detail::values_read_by<detail::value_of<E>, detail::planning_pass, E> once(pass, value);
  detail::write<detail::value_of<E>>(pass, value, {nullptr, to});
  return result;
}

}  // namespace no_adl

}  // namespace dimwise
