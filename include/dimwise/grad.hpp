// SPDX-License-Identifier: BSL-1.0
// dimwise/grad.hpp -- gradients and training, beside dimwise/dimwise.hpp and dimwise/nn.hpp.
#pragma once

// clang-format off: errors and what they are declared in come first, which keeps the include lines of an error few
#include <dimwise/support/errors.hpp>

#include <dimwise/nn/model.hpp>
#include <dimwise/grad/tracked.hpp>
#include <dimwise/grad/average.hpp>
#include <dimwise/grad/gradient.hpp>
#include <dimwise/grad/accumulate.hpp>
#include <dimwise/grad/check.hpp>
#include <dimwise/grad/expr.hpp>
#include <dimwise/grad/operations/linear_attention.hpp>
#include <dimwise/grad/loss.hpp>
#include <dimwise/grad/optimiser.hpp>
#include <dimwise/grad/record/recomputed.hpp>
#include <dimwise/nn/hana.hpp>
// clang-format on
