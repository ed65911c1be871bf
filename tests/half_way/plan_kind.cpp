// SPDX-License-Identifier: BSL-1.0
// Uses a kind of plan that tests/half_way/check.py adds.
#define DIMWISE_PLAIN_ONLY
#include <dimwise/eval/context.hpp>

int main() { return dimwise::plan_counts{}[dimwise::plan_kind::sparse] == 0 && dimwise::plan_kinds == 8 ? 0 : 1; }
