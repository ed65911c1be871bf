// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/documents.hpp -- attention of packed positions: a document of queries with that of keys.
//
// Layer: eval.
// Tests: tests/eval/attention/scores.test.cpp
#pragma once

#include <dimwise/dim/segments.hpp>

#include <cstddef>

namespace dimwise::detail {

// Some queries and the keys that they may see: all, or one document of each.
struct attended_part {
  std::size_t first_query;
  std::size_t queries;
  std::size_t first_key;
  std::size_t keys;
};

// Calls f for every document of the queries with that of the same number of the keys; once where there are none. Never
// beyond `all`: whatever the lengths say, that is where the memory ends.
template <class F>
void each_document(const segments& queries, const segments& keys, const attended_part& all, F f) {
  if (!queries.known()) {
    f(all);
    return;
  }
  attended_part part{0, 0, 0, 0};
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto within = [](std::size_t extent, std::size_t rest) { return extent < rest ? extent : rest; };
    part.queries = within(queries.begin()[i], all.queries - part.first_query);
    part.keys = i < keys.size() ? within(keys.begin()[i], all.keys - part.first_key) : 0;
    f(part);
    part.first_query += part.queries;
    part.first_key += part.keys;
  }
}

}  // namespace dimwise::detail
