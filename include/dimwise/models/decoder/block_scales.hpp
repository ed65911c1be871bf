// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/block_scales.hpp -- weights of 8 bits with a scale for each block of a matrix, as DeepSeek-V3
// and Qwen 3 are published.
//
// Layer: models. Weights are read as code times scale. Features are not rounded to 8 bits, as on GPUs.
// Tests: tests/models/decoders/deepseek.test.cpp
#pragma once

#include <dimwise/io/archive.hpp>
#include <dimwise/io/arrays/elements.hpp>
#include <dimwise/models/decoder/decoder_plan.hpp>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dimwise::models::detail {

/// Reads the `quantization_config` of weights with block scales; other quantized weights are mismatches.
inline void read_block_scales(io::config_check& config, decoder_plan& plan) {
  if (!config.has("quantization_config")) { return; }
  io::config_check how(config.object("quantization_config"), "quantization_config");
  if (how.word("quant_method", "") != "fp8") { return; }
  how.expect_word("fmt", {"e4m3"}, "e4m3");
  how.expect_word("activation_scheme", {"dynamic"}, "dynamic");
  const std::vector<double> block = how.numbers("weight_block_size");
  constexpr double most = 65536;
  const auto is_extent = [](double n) { return n >= 1 && n <= most && n == std::floor(n); };
  if (block.size() == 2 && is_extent(block[0]) && is_extent(block[1])) {
    plan.scale_block = {static_cast<std::size_t>(block[0]), static_cast<std::size_t>(block[1])};
  } else {
    how.differs("weight_block_size is not two numbers from 1 to 65536: rows and columns that share a scale");
  }
  config.differs_in(how);
  plan.reads_quantised = true;
}

/// The arrays of a file, in which weights have the scales that `…weight_scale_inv` holds. Throws `file_error` for
/// scales that do not fit a weight, and for weights of 8 bits without scales.
inline io::archive with_block_scales(const io::archive& from, const decoder_plan& plan) {
  if (plan.scale_block.empty()) { return from; }
  const std::string ending = "_scale_inv";
  const auto refuse = [&](const io::stored_array& a, const std::string& why) {
    throw io::file_error(from.title() + ": " + io::detail::printable(a.name) + " " + std::string(io::name_of(a.type)) +
                         " " + io::detail::listed(a.extents) + " " + why);
  };
  io::archive to = from.without_arrays();
  for (const io::stored_array& a : from.arrays()) {
    const io::stored_array* const scales = from.find(a.name + ending);
    if (scales == nullptr) {
      if (a.type == io::element_type::f8_e4m3) { refuse(a, "has no scales " + io::detail::printable(a.name + ending)); }
      const bool of_weight =
          a.name.ends_with(ending) && from.find(a.name.substr(0, a.name.size() - ending.size())) != nullptr;
      if (!of_weight) { to.add(a); }
      continue;
    }
    if (a.type != io::element_type::f8_e4m3 || a.extents.size() != 2) {
      refuse(a, "has scales of blocks, but F8_E4M3 [rows, columns] was expected");
    }
    std::vector<std::size_t> grid;
    for (std::size_t i = 0; i < 2; ++i) {
      grid.push_back(a.extents[i] / plan.scale_block[i] + (a.extents[i] % plan.scale_block[i] > 0 ? 1 : 0));
    }
    auto values = std::make_shared<std::vector<float>>();
    const bool is_real = scales->type == io::element_type::f32 || scales->type == io::element_type::bf16;
    if (scales->extents != grid || !is_real) {
      refuse(*scales, "does not fit: F32 or BF16 " + io::detail::listed(grid) + " was expected");
    }
    (void)io::detail::visit_elements(*scales, [&](const auto& source) {
      for (std::size_t i = 0; i < grid[0] * grid[1]; ++i) { values->push_back(static_cast<float>(source(i))); }
    });
    io::stored_array scaled = a;
    scaled.scales = std::as_bytes(std::span(*values));
    scaled.scale_block = plan.scale_block;
    to.keep(values);
    to.add(std::move(scaled));
  }
  return to;
}

}  // namespace dimwise::models::detail
