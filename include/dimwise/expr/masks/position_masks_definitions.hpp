// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/masks/position_masks_definitions.hpp -- the exceptions for positions that cannot be compared.
//
// Layer: expr. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/expr/masks/
#pragma once

#include <dimwise/expr/masks/position_masks.hpp>

namespace dimwise::detail {

[[noreturn]] DIMWISE_DETAIL_LIBRARY void throw_origins_unsaid(const char* mask, name_of query, extent_t queries,
                                                              name_of key, extent_t keys) {
  raise<origin_error>(error{} << mask << ": " << query() << " has extent " << queries << " and " << key()
                              << " has extent " << keys << "; say where they begin with starting_at (R7)");
}
DIMWISE_DETAIL_LIBRARY void check_shown(const char* mask, name_of query, extent_t queries, name_of key, extent_t keys,
                                        std::ptrdiff_t first_key) {
  const auto end = first_key + static_cast<std::ptrdiff_t>(keys);
  if (end > static_cast<std::ptrdiff_t>(queries)) {
    raise<origin_error>(error{} << mask << ": " << key() << " ends at position " << static_cast<long long>(end)
                                << ", but " << query() << " has the extent " << queries
                                << " and no origin: set it with starting_at, or next of the cache (R7)");
  }
}
DIMWISE_DETAIL_LIBRARY void check_same_documents(const char* mask, name_of query, const segments& queries, name_of key,
                                                 const segments& keys) {
  if (queries.size() != keys.size()) {
    raise<origin_error>(error{} << mask << ": " << query() << " has " << queries.size() << " documents and " << key()
                                << " has " << keys.size()
                                << "; positions are compared between documents of the same lengths (R7)");
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (queries.begin()[i] != keys.begin()[i]) {
      raise<origin_error>(error{} << mask << ": document " << i << " has " << queries.begin()[i] << " positions of "
                                  << query() << " and " << keys.begin()[i] << " of " << key()
                                  << "; positions are compared between documents of the same lengths (R7)");
    }
  }
}

}  // namespace dimwise::detail
