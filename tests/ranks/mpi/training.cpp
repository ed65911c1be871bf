// tests/ranks/mpi/training.cpp -- training steps on the ranks of a program.
// SPDX-License-Identifier: BSL-1.0
#include "training.hpp"

#include "../training/stage_files.hpp"
#include "ranks/training/training_checks.hpp"

void check_training_on(const dimwise::ranks::communicator& world) { training_checks::check_training(world); }
void check_stages_on(const dimwise::ranks::communicator& world) { stage_checks::check_stages(world); }
void write_stages_on(const dimwise::ranks::communicator& world, const char* path) {
  stage_checks::write_stages<stage_checks::tied_stage>(path, world);
}
void read_stages_on(const dimwise::ranks::communicator& world, const char* path) {
  stage_checks::read_stages<stage_checks::tied_stage>(path, world);
}
