// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/lowering/relative_ids.hpp -- positions, and distances between queries and keys, as ids of the rows of a
// table.
//
// Layer: eval: it fills tensors.
// Tests: tests/expr/positions/positions.test.cpp, tests/nn/linear.test.cpp
#pragma once

#include <dimwise/eval/evaluate.hpp>

#include <cstdint>

namespace dimwise {

namespace detail {

// A table has a row for each of these positions of P.
template <class P>
void check_rows(const char* operation, std::ptrdiff_t first, std::size_t count, extent_t rows) {
  if (first < 0 || count > rows || static_cast<std::size_t>(first) > rows - count) {
    const auto last = static_cast<long long>(static_cast<std::size_t>(first) + count - 1);
    raise<index_error>(error{} << operation << ": positions " << static_cast<long long>(first) << " … " << last
                               << " of dimension " << dimension_name<P>() << " are asked of a table of " << rows);
  }
}

// The position of every element of P as the id of a row, in packed dimensions from each document's beginning.
template <class Row, class P, class Extents>
auto position_ids(const char* operation, const Extents& e, extent_t rows) {
  const auto positions = positions_of<P>(e, operation);
  if (!positions.empty()) {
    std::ptrdiff_t least = positions[0];
    std::ptrdiff_t most = positions[0];
    for (const std::ptrdiff_t i : positions) {
      if (i < least) { least = i; }
      if (i > most) { most = i; }
    }
    check_rows<P>(operation, least, static_cast<std::size_t>(most - least) + 1, rows);
  }
  auto ids = tensor<id<Row>, P>::for_overwriting(merge_extents<list<P>>(operation, e));
  id<Row>* to = ids.overwrite();
  for (const std::ptrdiff_t i : positions) { *to++ = id<Row>(static_cast<std::size_t>(i)); }
  return ids;
}

// Whole numbers that say positions of P as the ids of rows of a table, which has `rows` of them.
template <class P, class Given>
auto given_position_ids(const char* operation, const Given& given, extent_t rows) {
  const tensor numbers = given;
  using dims = dims_t<shape_of<decltype(numbers)>>;
  auto ids = tensor_of<id<P>, make_shape_t<dims, list<>>>::for_overwriting(numbers.extents());
  id<P>* to = ids.overwrite();
  for (const auto number : numbers.values()) {
    if (number < 0 || static_cast<std::uintmax_t>(number) >= rows) {
      raise<index_error>(error{} << operation << ": position " << static_cast<long long>(number) << " of dimension "
                                 << dimension_name<P>() << " is asked of a table of " << rows);
    }
    *to++ = id<P>(static_cast<std::size_t>(number));
  }
  return ids;
}

}  // namespace detail

namespace no_adl {

/// The ids of the distances between every query and key, to gather learned vectors by: `gather<R>(table,
/// relative_ids<seq, key, R>(…))`.
///
///   -> [Q, K], elements id<R>
///
/// Throws `extent_error` where R has no distance to choose (R18).
template <class Q, class K, class R, class Bucket = clipped_distance>
  requires(detail::both_ordered<Q, K>)
[[nodiscard]] auto relative_ids(const Q& queries, const K& keys, const R& distances = R{}, const Bucket& bucket = {}) {
  if (distances.extent() == 0) {
    detail::raise<extent_error>(error{} << "relative_ids: dimension " << detail::dimension_name<R>()
                                        << " of distances has extent 0, an extent of 1 or more is expected (R18)");
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
DIMWISE_DETAIL_MISUSED(relative_ids)

}  // namespace no_adl

}  // namespace dimwise
