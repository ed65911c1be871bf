// tests/ranks/mpi/training.hpp -- the checks of training, compiled apart from the other modes of the program.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/ranks/messages/communicator.hpp>

/// Throws if a step of the ranks differs from that of one rank (tests/ranks/training/training_checks.hpp).
void check_training_on(const dimwise::ranks::communicator& world);
/// Writes the stages of a model with tied embeddings, or reads them; throws if other elements were read.
void write_stages_on(const dimwise::ranks::communicator& world, const char* path);
void read_stages_on(const dimwise::ranks::communicator& world, const char* path);
/// Throws if a step of a pipeline differs from that of one rank (tests/ranks/training/stage_checks.hpp).
void check_stages_on(const dimwise::ranks::communicator& world);
