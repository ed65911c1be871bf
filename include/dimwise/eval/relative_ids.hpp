// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/relative_ids.hpp -- the distance between every query and key, as ids of a table of distances.
//
// Layer: eval: it fills a tensor.
// Tests: tests/expr/positions.test.cpp
#pragma once

#include <dimwise/eval/evaluate.hpp>

namespace dimwise {

namespace no_adl {

/// The ids of the distances between every query and key, to gather learned vectors by: `gather<R>(table, relative_ids<seq, key, R>(…))`.
///
///   -> [Q, K], elements id<R>
///
/// Throws `extent_error` where R has no distance to choose (R18).
template <class Q, class K, class R, class Bucket = clipped_distance>
  requires(detail::both_ordered<Q, K>)
[[nodiscard]] auto relative_ids(const Q& queries, const K& keys, const R& distances = R{}, const Bucket& bucket = {}) {
  if (distances.extent() == 0) {
    detail::raise<extent_error>(error{} << "relative_ids: dimension " << detail::dimension_name<R>()
                                        << " of distances has extent 0");
  }
  tensor<id<R>, Q, K> ids(queries, keys);
  auto* to = ids.overwrite();
  for (std::size_t q = 0; q < queries.extent(); ++q) {
    for (std::size_t k = 0; k < keys.extent(); ++k) {
      const std::ptrdiff_t distance =
          keys.origin() + static_cast<std::ptrdiff_t>(k) - queries.origin() - static_cast<std::ptrdiff_t>(q);
      *to++ = id<R>(bucket(distance, distances.extent()));
    }
  }
  return ids;
}

}  // namespace no_adl

}  // namespace dimwise
