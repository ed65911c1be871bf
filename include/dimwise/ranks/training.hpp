// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/training.hpp -- training over ranks, beside dimwise/grad.hpp and dimwise/ranks.hpp.
//
// Layer: ranks.
#pragma once

#include <dimwise/ranks/gradients.hpp>
#include <dimwise/ranks/optimiser.hpp>
#include <dimwise/ranks/parts.hpp>
