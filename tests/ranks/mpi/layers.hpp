// tests/ranks/mpi/layers.hpp -- layers that ranks divide, on the ranks of a program.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/ranks/messages/communicator.hpp>

/// Throws if a layer that the ranks divide differs from that of one rank (tests/ranks/layer_checks.hpp).
void check_layers_on(const dimwise::ranks::communicator& world);
