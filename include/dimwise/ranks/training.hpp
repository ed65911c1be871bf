// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training.hpp -- training over ranks, beside dimwise/grad.hpp and dimwise/ranks.hpp.
//
// Layer: ranks.
#pragma once

#include <dimwise/ranks/parts.hpp>
#include <dimwise/ranks/training/gradients.hpp>
#include <dimwise/ranks/training/norms.hpp>
#include <dimwise/ranks/training/optimiser.hpp>
#include <dimwise/ranks/training/overlapped_gradients.hpp>
#include <dimwise/ranks/training/stages.hpp>
