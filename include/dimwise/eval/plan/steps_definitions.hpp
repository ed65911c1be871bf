// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/plan/steps_definitions.hpp -- the steps of a plan as a list and as text.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/eval/plan/plan.test.cpp
#pragma once

#include <dimwise/eval/plan/steps.hpp>

namespace dimwise {

DIMWISE_DETAIL_LIBRARY std::size_t evaluation_plan::operator[](plan_kind k) const {
  std::size_t n = 0;
  for (const plan_step& s : steps_) { n += s.kind == k ? 1U : 0U; }
  return n;
}

DIMWISE_DETAIL_LIBRARY std::string evaluation_plan::text() const {
  std::string all;
  for (const plan_step& s : steps_) {
    const std::string kind = name_of(s.kind);
    all += kind + std::string(kind.size() < 10 ? 10 - kind.size() : 1, ' ') + s.operation + " -> " + s.result + '\n';
  }
  return all;
}

DIMWISE_DETAIL_LIBRARY void evaluation_plan::add(plan_step s) { steps_.push_back(static_cast<plan_step&&>(s)); }

}  // namespace dimwise
