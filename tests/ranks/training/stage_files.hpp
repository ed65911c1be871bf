// tests/ranks/training/stage_files.hpp -- one file of all stages of a pipeline: what any number of stages writes and
// reads, on any backend.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "stage_checks.hpp"
#include <dimwise/io.hpp>
#include <dimwise/ranks/checkpoint.hpp>

#include <filesystem>

namespace stage_checks {

// Writes the stages of a model.
template <template <class, class> class Stage>
void write_stages(const std::filesystem::path& path, const ranks::communicator& world) {
  const ranks::mesh<pp> grid(world, pp{world.size()});
  ranks::save(stage_of(all_stages<Stage>(), world.rank(), world.size()), path, grid);
}
// Reads them, with as many layers as this stage has.
template <template <class, class> class Stage>
void read_stages(const std::filesystem::path& path, const ranks::communicator& world) {
  const ranks::mesh<pp> grid(world, pp{world.size()});
  const auto expected = stage_of(all_stages<Stage>(), world.rank(), world.size());
  auto read = expected;
  nn::for_each_parameter(read, [](const std::string&, auto& p) { p.fill(0); });
  ranks::load(read, io::read_safetensors(path), grid);
  expect_same(read, expected, "a stage that was read");
}

}  // namespace stage_checks
