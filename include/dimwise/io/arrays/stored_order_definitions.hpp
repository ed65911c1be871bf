// SPDX-License-Identifier: BSL-1.0
// dimwise/io/arrays/stored_order_definitions.hpp -- the place of a parameter in an array (support/library.hpp).
//
// Layer: io.
#pragma once

#include <dimwise/io/arrays/stored_order.hpp>

#include <string>
#include <vector>

namespace dimwise::io::detail {

DIMWISE_DETAIL_LIBRARY void arrangement::place() {
  std::size_t stride = 1;
  for (std::size_t i = steps.size(); i-- > 0;) {
    steps[i].file_stride = stride;
    stride *= steps[i].count;
  }
  if (parts > 1) {
    begin = steps[part_step].file_stride * part;
    steps[part_step].count = 1;
  }
}

DIMWISE_DETAIL_LIBRARY void arrangement::make_whole(const std::vector<shard_place>& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    steps[shards[i].step].count = places[i].whole;
    std::string whole;
    say_name(shards[i].whole_name(), [&](char c) { whole += c; });
    whole.append("[").append(std::to_string(places[i].whole)).append("]");
    if (const std::size_t at = words.find(shards[i].words); at != std::string::npos) {
      words.replace(at, shards[i].words.size(), whole);
    }
  }
  if (parts > 1) { steps[part_step].count = parts; }
  for (std::size_t a = 0; a < extents.size(); ++a) {
    const std::size_t end = a + 1 < axes.size() ? axes[a + 1] : steps.size();
    extents[a] = 1;
    for (std::size_t i = axes[a]; i < end; ++i) { extents[a] *= steps[i].count; }
  }
  begin = 0;
  place();
}

DIMWISE_DETAIL_LIBRARY void arrangement::take_part(const std::vector<shard_place>& places,
                                                   const std::vector<std::size_t>& here) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    step& s = steps[shards[i].step];
    begin += places[i].first * s.file_stride;
    s.count = here[i];
    s.file_stride *= places[i].distance;
  }
}

DIMWISE_DETAIL_LIBRARY void arrangement::widen(std::size_t file_axis, bool in_blocks, std::size_t rows,
                                               std::size_t first, std::size_t index, std::size_t count) {
  std::size_t inner = 1;  // elements for each element of the axis
  for (std::size_t i = file_axis + 1; i < extents.size(); ++i) { inner *= extents[i]; }
  const std::size_t before = extents[file_axis];
  const std::size_t leading = axes[file_axis];
  const std::size_t blocks = in_blocks ? steps[leading].count : 1;
  if (in_blocks) { steps[leading].file_stride = rows * inner; }
  extents[file_axis] = blocks * rows;
  for (std::size_t i = 0; i < leading && before > 0; ++i) {
    steps[i].file_stride = steps[i].file_stride / before * extents[file_axis];
  }
  begin = first * inner;
  part = index;
  parts = count;
  words += ", part " + std::to_string(index) + " of " + std::to_string(count);
}

}  // namespace dimwise::io::detail
