// SPDX-License-Identifier: BSL-1.0
// dimwise/shape.hpp -- dimensions, shapes and rules alone: types in, types out, no data.
#pragma once

// clang-format off: errors are declared first, which keeps the include lines of an error few
#include <dimwise/support/errors.hpp>
// clang-format on

#include <dimwise/dim/ability.hpp>
#include <dimwise/dim/derived.hpp>
#include <dimwise/dim/dimension.hpp>
#include <dimwise/dim/shard.hpp>
#include <dimwise/shape/concepts.hpp>
#include <dimwise/shape/marks.hpp>
#include <dimwise/shape/marks_table.hpp>
#include <dimwise/shape/rules/assign.hpp>
#include <dimwise/shape/rules/cache.hpp>
#include <dimwise/shape/rules/contract.hpp>
#include <dimwise/shape/rules/elementwise.hpp>
#include <dimwise/shape/rules/index.hpp>
#include <dimwise/shape/rules/linear_attention.hpp>
#include <dimwise/shape/rules/mask.hpp>
#include <dimwise/shape/rules/positions.hpp>
#include <dimwise/shape/rules/reduce.hpp>
#include <dimwise/shape/rules/restride.hpp>
#include <dimwise/shape/shape.hpp>
#include <dimwise/shape/verdict.hpp>
