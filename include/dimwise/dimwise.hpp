// SPDX-License-Identifier: BSL-1.0
// dimwise/dimwise.hpp -- everything, from the lowest layer up: the order keeps the include lines of an error few.
#pragma once

// clang-format off: the order is from the lowest layer up
#include <dimwise/support/errors.hpp>

#include <dimwise/shape.hpp>

#include <dimwise/tensor/refused_shape.hpp>
#include <dimwise/tensor/other_names.hpp>
#include <dimwise/tensor/operand.hpp>
#include <dimwise/tensor/tensor.hpp>
#include <dimwise/tensor/random.hpp>
#include <dimwise/tensor/view.hpp>

#include <dimwise/expr/node.hpp>
#include <dimwise/expr/position_masks.hpp>
#include <dimwise/expr/elementwise.hpp>
#include <dimwise/expr/choose.hpp>
#include <dimwise/expr/compare.hpp>
#include <dimwise/expr/contract.hpp>
#include <dimwise/expr/cumulative.hpp>
#include <dimwise/expr/mask.hpp>
#include <dimwise/expr/causal_parts.hpp>
#include <dimwise/expr/join.hpp>
#include <dimwise/expr/ids.hpp>
#include <dimwise/expr/positions.hpp>
#include <dimwise/expr/reduce.hpp>
#include <dimwise/expr/reorder.hpp>
#include <dimwise/expr/replace.hpp>
#include <dimwise/expr/restride.hpp>
#include <dimwise/expr/rounding.hpp>
#include <dimwise/expr/take.hpp>
#include <dimwise/expr/rotary.hpp>
#include <dimwise/expr/scores.hpp>
#include <dimwise/expr/sort.hpp>
#include <dimwise/expr/widen.hpp>
#include <dimwise/expr/window.hpp>
#include <dimwise/expr/misused_operators.hpp>
#include <dimwise/expr/explain.hpp>

#include <dimwise/eval/compound.hpp>
#include <dimwise/eval/evaluate.hpp>
#include <dimwise/eval/expr.hpp>
#include <dimwise/eval/partial_attention.hpp>
#include <dimwise/eval/plan.hpp>
#include <dimwise/eval/relative_ids.hpp>
#include <dimwise/eval/rotary_frequencies.hpp>
#include <dimwise/eval/sequences.hpp>
#include <dimwise/eval/top_k.hpp>

#include <dimwise/viz/explain.hpp>
#include <dimwise/viz/print.hpp>

#include <dimwise/nn/parameters.hpp>
#include <dimwise/nn/modules.hpp>

#include <dimwise/version.hpp>

#if defined(DIMWISE_IMPLEMENTATION)
#include <dimwise/implementation.hpp>
#endif
// clang-format on
