// SPDX-License-Identifier: BSL-1.0
// dimwise/io/bindings_definitions.hpp -- bindings whose parameters share an array (support/library.hpp).
//
// Layer: io.
#pragma once

#include <dimwise/io/bindings.hpp>

#include <algorithm>
#include <vector>

namespace dimwise::io::detail {

DIMWISE_DETAIL_LIBRARY void binding_list::stack(std::size_t first, std::size_t weight_axis, bool in_blocks) {
  const stack_of_maps maps{first, all.size(), weight_axis, in_blocks};
  try {
    for (std::size_t i = first; i < maps.end; ++i) {
      if (!all[i]->widened) { stack_like(maps, i); }
    }
  } catch (...) {
    all.resize(first);
    throw;
  }
  stacks_.push_back(maps);
}

DIMWISE_DETAIL_LIBRARY void binding_list::place_in_whole(const std::vector<std::vector<shard_place>>& places) const {
  std::vector<std::vector<std::size_t>> here(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    arrangement& how = all[k]->how;
    for (const sharded_step& s : how.shards) { here[k].push_back(how.steps[s.step].count); }
    if (!places[k].empty() && !all[k]->widened) { how.make_whole(places[k]); }
  }
  // Maps in one array: first the whole ones, one after another, and then this rank's part of each.
  for (const stack_of_maps& s : stacks_) {
    bool is_divided = false;
    for (std::size_t k = s.first; k < s.end; ++k) { is_divided = is_divided || !places[k].empty(); }
    if (!is_divided) { continue; }
    for (std::size_t k = s.first; k < s.end; ++k) {
      arrangement& how = all[k]->how;
      how.parts = 1;
      how.part = 0;
      how.words.erase(std::min(how.words.find(", part "), how.words.size()));
      how.make_whole(places[k]);
      all[k]->widened = false;
    }
    for (std::size_t k = s.first; k < s.end; ++k) {
      if (!all[k]->widened) { stack_like(s, k); }
    }
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!places[k].empty()) { all[k]->how.take_part(places[k], here[k]); }
  }
}

DIMWISE_DETAIL_LIBRARY void binding_list::check_parts(std::size_t first) {
  for (std::size_t i = first; i < all.size(); ++i) {
    for (std::size_t j = first; j < i; ++j) {
      const bound_parameter& a = *all[j];
      const bound_parameter& b = *all[i];
      if (a.names != b.names || a.how.extents == b.how.extents) { continue; }
      const std::string text =
          "fused: the parts of \"" + a.names[0] + "\" differ in size: " + a.how.words + " and " + b.how.words;
      all.resize(first);
      raise<extent_error>(error{} << text.c_str());
    }
  }
}

DIMWISE_DETAIL_LIBRARY void binding_list::stack_like(const stack_of_maps& maps, std::size_t one) const {
  const auto [first, end, weight_axis, in_blocks] = maps;
  std::vector<bound_parameter*> parts;
  for (std::size_t i = first; i < end; ++i) {
    if (all[i]->names == all[one]->names) { parts.push_back(all[i].get()); }
  }
  const std::size_t along = parts.front()->how.extents.size() > 1 ? weight_axis : 0;
  std::size_t rows = 0;
  std::vector<std::size_t> begins;
  for (const bound_parameter* p : parts) {
    const arrangement& how = p->how;
    const std::size_t blocks = in_blocks ? how.steps[how.axes[along]].count : 1;
    const arrangement& other = parts.front()->how;
    const bool same_blocks = !in_blocks || blocks == other.steps[other.axes[along]].count;
    if (!same_blocks || (how.extents.size() > 1 && how.extents[1 - along] != other.extents[1 - along])) {
      const std::string text =
          "fused: the parts of \"" + p->names[0] + "\" differ in size: " + other.words + " and " + how.words;
      raise<extent_error>(error{} << text.c_str());
    }
    begins.push_back(rows);
    rows += how.extents[along] / std::max<std::size_t>(blocks, 1);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i]->how.widen(along, in_blocks, rows, begins[i], i, parts.size());
    parts[i]->widened = true;
  }
}

}  // namespace dimwise::io::detail
