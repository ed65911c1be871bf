// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/explain.hpp -- explain(expr): the derivation of an expression, its costs, and its evaluation plan.
//
// Layer: viz. Text, Markdown and JSON from one list of steps. Does not evaluate the expression. Multiply-adds are those
// of the products as written; bytes are the size of a step's result if it were stored. The plan lists the passes that
// would run.
// Tests: tests/viz/explain.test.cpp
//
//   std::cout << explain(softmax<key>(scores<d_k>(q, k)));
//   page << explain(y).markdown();
#pragma once

#include <dimwise/eval/plan/plan.hpp>
#include <dimwise/support/library.hpp>
#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/colours.hpp>

#include <string>
#include <utility>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

namespace detail {

// The dimensions that a step adds, removes, or renames.
struct step_changes {
  std::vector<std::string> appear{};
  std::vector<std::string> vanish{};
  std::vector<std::pair<std::string, std::string>> renamed{};  // old, new

  explicit step_changes(const step_description& s);
  // "key appears; d_k vanishes; seq becomes key".
  [[nodiscard]] std::string words() const;

 private:
  static bool listed(const std::vector<std::string>& names, const std::string& name);
};

// "1 234 567"
DIMWISE_DETAIL_LIBRARY std::string grouped(std::size_t n);
DIMWISE_DETAIL_LIBRARY std::string json_list(const std::vector<std::string>& names);

}  // namespace detail

/// The derivation of an expression with its costs, and its evaluation plan.
class explanation {
 public:
  /// Constructs an explanation from a derivation and a plan.
  explanation(detail::derivation d, std::vector<plan_step> plan) : derivation_(std::move(d)), plan_(std::move(plan)) {}

  /// The steps of the derivation.
  [[nodiscard]] const detail::derivation& derivation() const { return derivation_; }
  /// The passes that would run; empty for a tensor and for elements other than float and double.
  [[nodiscard]] const std::vector<plan_step>& plan() const& { return plan_; }
  [[nodiscard]] std::vector<plan_step> plan() const&& { return plan_; }
  /// The multiply-adds of all products as written.
  [[nodiscard]] std::size_t multiply_adds() const;

  /// Numbered steps: operation, shape with extents, changes of dimensions, costs, and the reasons for changed marks.
  [[nodiscard]] std::string text() const;
  /// The explanation as Markdown tables.
  [[nodiscard]] std::string markdown() const;
  /// The explanation as JSON: `{"steps":[…],"multiply_adds":…,"plan":[…]}`.
  [[nodiscard]] std::string json() const;

 private:
  static std::string cost(const detail::step_description& s);
  detail::derivation derivation_;
  std::vector<plan_step> plan_;
};

/// Prints the text; dimensions are coloured on a terminal.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const explanation& e) {
  detail::coloured_text t{e.text(), {}};
  for (const detail::step_description& s : e.derivation().steps()) {
    for (const detail::dim_description& d : s.result.dims) { t.colours.add(d.name); }
  }
  return out << t;
}
/// Prints the text of a plan: `std::cout << plan(expr)`, one line for each step.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const evaluation_plan& p) {
  return out << p.text();
}

namespace no_adl {

/// Explains `x`: one step per node with its costs, and the plan of an expression of float or double. Does not evaluate
/// x.
template <operand X>
[[nodiscard]] explanation explain(const X& x) {
  std::vector<plan_step> steps;
  if constexpr (expression<X>) {
    using T = detail::value_of<X>;
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) { steps = plan(x).steps(); }
  }
  return {detail::derivation_of(x), std::move(steps)};
}

}  // namespace no_adl

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/viz/explain_definitions.hpp>
#endif
