// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/operations/adjoint.hpp -- the adjoint of each operation.
//
// Layer: grad. An adjoint is derived from the node's type and is written with the nodes of the language. Its `send(n,
// g)` sends to the tracked children only.
// Tests: tests/grad/, tests/conformance/gradients/
#pragma once

#include <dimwise/grad/operations/elements.hpp>
#include <dimwise/grad/operations/positions.hpp>
#include <dimwise/grad/operations/views.hpp>
