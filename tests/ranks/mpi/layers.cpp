// tests/ranks/mpi/layers.cpp -- layers over ranks for tests/ranks/mpi/program.cpp, on any backend.
// SPDX-License-Identifier: BSL-1.0
#include "layers.hpp"

#include "ranks/layer_checks.hpp"

void check_layers_on(const dimwise::ranks::communicator& world) { layer_checks::check_layers(world); }
