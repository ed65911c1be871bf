// tests/support/plans.hpp -- plan(expr) against what ran.
//
// For tests only.
//
//   CHECK(misnamed(softmax<key>(s)) == "");
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/dimwise.hpp>

#include <string>

namespace dimwise_test {

/// Where plan(e) names other steps than evaluate(e) runs, in words; `y` is given the value.
template <class E, class Y>
[[nodiscard]] std::string misnamed(const E& e, Y& y) {
  using dimwise::plan_kind;
  const dimwise::evaluation_plan said = dimwise::plan(e);
  dimwise::reset_plans();
  y = dimwise::evaluate(e);
  for (const plan_kind k : {plan_kind::plain, plan_kind::rows, plan_kind::map, plan_kind::product, plan_kind::attention,
                            plan_kind::decode}) {
    const std::size_t ran = dimwise::plans_run()[k];
    if (said[k] != ran) {
      return std::string(name_of(k)) + " ran " + std::to_string(ran) + " times, but\n" + said.text();
    }
  }
  return {};
}
template <class E>
[[nodiscard]] std::string misnamed(const E& e) {
  decltype(dimwise::evaluate(e)) y;
  return misnamed(e, y);
}

}  // namespace dimwise_test
