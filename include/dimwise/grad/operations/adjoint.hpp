// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/operations/adjoint.hpp -- the adjoint of each operation.
//
// Layer: grad. The type of a node says which function of the library is its adjoint, or has an adjoint that is written
// with nodes: `send(n, g)` sends to the tracked children only.
// Tests: tests/grad/, tests/conformance/gradients/
#pragma once

#include <dimwise/grad/operations/elements.hpp>
#include <dimwise/grad/operations/positions.hpp>
#include <dimwise/grad/operations/views.hpp>
