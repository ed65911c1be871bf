// SPDX-License-Identifier: BSL-1.0
// dimwise/dimwise.hpp -- everything, from the lowest layer up: the order keeps the include lines of an error few.
#pragma once

#include <stdexcept>  // for programs that throw beside the exceptions of dimwise

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
#include <dimwise/expr/masks/position_masks.hpp>
#include <dimwise/expr/elements/elementwise.hpp>
#include <dimwise/expr/elements/choose.hpp>
#include <dimwise/expr/elements/compare.hpp>
#include <dimwise/expr/products/contract.hpp>
#include <dimwise/expr/rows/cumulative.hpp>
#include <dimwise/expr/masks/mask.hpp>
#include <dimwise/expr/masks/causal_parts.hpp>
#include <dimwise/expr/rearrange/join.hpp>
#include <dimwise/expr/rearrange/ids.hpp>
#include <dimwise/expr/positions/positions.hpp>
#include <dimwise/expr/rows/reduce.hpp>
#include <dimwise/expr/rearrange/reorder.hpp>
#include <dimwise/expr/rearrange/replace.hpp>
#include <dimwise/expr/rearrange/restride.hpp>
#include <dimwise/expr/elements/rounding.hpp>
#include <dimwise/expr/rearrange/take.hpp>
#include <dimwise/expr/positions/rotary.hpp>
#include <dimwise/expr/products/scores.hpp>
#include <dimwise/expr/rows/sort.hpp>
#include <dimwise/expr/elements/widen.hpp>
#include <dimwise/expr/rearrange/window.hpp>
#include <dimwise/expr/elements/misused_operators.hpp>
#include <dimwise/expr/explain/explain.hpp>

#include <dimwise/eval/compound.hpp>
#include <dimwise/eval/evaluate.hpp>
#include <dimwise/eval/written/expr.hpp>
#include <dimwise/eval/attention/partial.hpp>
#include <dimwise/eval/plan/plan.hpp>
#include <dimwise/eval/lowering/relative_ids.hpp>
#include <dimwise/eval/rotary_frequencies.hpp>
#include <dimwise/eval/written/sequences.hpp>
#include <dimwise/eval/sorting/top_k.hpp>

#include <dimwise/viz/explain.hpp>
#include <dimwise/viz/print.hpp>

#include <dimwise/nn/parameters.hpp>
#include <dimwise/nn/layers/kinds.hpp>
#include <dimwise/nn/layers/linear.hpp>
#include <dimwise/nn/modules.hpp>

#include <dimwise/version.hpp>

#if defined(DIMWISE_IMPLEMENTATION)
#include <dimwise/implementation.hpp>
#endif
// clang-format on
