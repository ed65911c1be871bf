// SPDX-License-Identifier: BSL-1.0
// dimwise/models/decoder/expert_arrays.hpp -- arrays that hold a parameter of all experts, as an array for each expert.
//
// Layer: models. No element is copied.
// Tests: tests/models/decoders/gpt_oss.test.cpp
#pragma once

#include <dimwise/io/archive.hpp>
#include <dimwise/models/decoder/decoder_plan.hpp>

#include <string>
#include <utility>
#include <vector>

namespace dimwise::models::detail {

// The blocks [experts, rows, blocks of a row, 16] and their scales [experts, rows, blocks of a row] as one array of
// MXFP4: [experts, rows, columns].
inline io::stored_array with_scales(const io::archive& from, const io::stored_array& blocks) {
  const std::string name = blocks.name.substr(0, blocks.name.size() - std::string("_blocks").size());
  const io::stored_array& scales = from.at(name + "_scales");
  const auto& b = blocks.extents;
  const auto& s = scales.extents;
  const bool fits = b.size() == 4 && b[3] == 16 && s == std::vector<std::size_t>(b.begin(), b.begin() + 3) &&
                    blocks.type == io::element_type::u8 && scales.type == io::element_type::u8;
  if (!fits) {
    throw io::file_error(from.title() + ": " + io::detail::printable(blocks.name) + " " + io::detail::listed(b) +
                         " and its scales " + io::detail::listed(s) +
                         " are not MXFP4: U8 [experts, rows, n, 16] and U8 [experts, rows, n] were expected");
  }
  io::stored_array both = blocks;
  both.type = io::element_type::mxfp4;
  both.extents = {b[0], b[1], b[2] * 32};
  both.scales = scales.bytes;
  return both;
}
// Adds a part of an array for each expert; false if the array does not hold as many experts.
inline bool add_experts(io::archive& to, const io::stored_array& all, const std::string& before, std::size_t experts,
                        const expert_stack& stack) {
  if (all.extents.empty() || all.extents[0] != experts || all.bytes.size() < experts) { return false; }
  const std::size_t size = all.bytes.size() / experts;
  const std::size_t scales = all.scales.size() / experts;
  for (std::size_t e = 0; e < experts; ++e) {
    io::stored_array one = all;
    one.name = before + std::to_string(e) + "." + stack.to;
    one.extents.erase(one.extents.begin());
    one.bytes = all.bytes.subspan(e * size, size);
    one.scales = all.scales.subspan(e * scales, scales);
    to.add(std::move(one));
  }
  return true;
}

// The arrays of a file, with an array for each expert where the plan says that an array holds all of them. Throws
// `file_error` for blocks that do not fit their scales.
inline io::archive with_single_experts(const io::archive& from, const decoder_plan& plan) {
  const decoder_names& names = plan.names;
  if (names.stacked_experts.empty()) { return from; }
  io::archive to = from.without_arrays();
  for (const io::stored_array& a : from.arrays()) {
    bool divided = false;
    for (const expert_stack& stack : names.stacked_experts) {
      if (divided || !a.name.ends_with("." + stack.from)) { continue; }
      const std::string layer = a.name.substr(0, a.name.size() - stack.from.size());
      const bool is_scaled = stack.from.ends_with("_blocks");
      divided = stack.from.ends_with("_scales") || add_experts(to, is_scaled ? with_scales(from, a) : a,
                                                               layer + names.experts, plan.config.experts, stack);
    }
    if (!divided) { to.add(a); }
  }
  return to;
}

}  // namespace dimwise::models::detail
