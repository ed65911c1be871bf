// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/rearrange/join_definitions.hpp -- the documents of parts that are put one after the other.
//
// Layer: expr. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/expr/rearrange/join.test.cpp
#pragma once

#include <dimwise/expr/rearrange/join.hpp>

#include <vector>

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY segments joined_documents(const segments* const* parts, std::size_t count) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < count; ++i) {
    if (!parts[i]->known()) { return {}; }
    lengths.insert(lengths.end(), parts[i]->begin(), parts[i]->end());
  }
  return segments(lengths);
}

}  // namespace dimwise::detail
