// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder/disentangled.hpp -- disentangled attention (He et al. 2021): scores of queries and keys with
// learned features of their distances.
//
// Layer: models.
// Tests: tests/models/encoders/deberta.test.cpp
#pragma once

#include <dimwise/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace dimwise::models {

/// The buckets of DeBERTa: the distance to a key, exact up to `exact` and logarithmic up to `most`. The middle row is
/// distance 0, keys before the query have the rows after it. Farther keys have the first or the last row.
struct disentangled_buckets {
  std::size_t exact = 0;  ///< 0: every distance is exact
  std::size_t most = 0;

  /// The bucket of this distance in either direction.
  [[nodiscard]] std::size_t of(std::size_t distance) const {
    if (exact == 0 || distance <= exact) { return distance; }
    const auto near = static_cast<double>(exact);
    const double far =
        std::log(static_cast<double>(distance) / near) / std::log(static_cast<double>(most - 1) / near) * (near - 1);
    return exact + static_cast<std::size_t>(std::ceil(far));
  }
  /// The row of a key at this distance after the query, of `rows` rows.
  [[nodiscard]] std::size_t operator()(std::ptrdiff_t distance, std::size_t rows) const {
    const std::size_t middle = rows / 2;
    const std::size_t away =
        of(distance < 0 ? std::size_t{0} - static_cast<std::size_t>(distance) : static_cast<std::size_t>(distance));
    return distance > 0 ? middle - std::min(middle, away) : std::min(middle + away, rows - 1);
  }
};

/// Which scores of distances are added, and how their features come about.
struct disentangled_settings {
  bool of_queries = false;  ///< queries with the features of distances: c2p
  bool of_keys = false;     ///< keys with these features: p2c
  bool own_maps = false;    ///< maps of the features of their own; otherwise those of queries and keys
  bool norm = false;        ///< of the features
  disentangled_buckets buckets{};

  /// Whether any scores are added.
  [[nodiscard]] bool any() const { return of_queries || of_keys; }
};

/// The values that the layers of a forward pass share: the features of the distances in its texts, and the row of the
/// distance between each query and key of a text as long as the longest one.
template <class Dims>
struct disentangled_pass {
  disentangled_settings settings;
  tensor<float, typename Dims::buckets, typename Dims::d_model> features;
  tensor<id<typename Dims::buckets>, typename Dims::seq, typename Dims::key> rows;
};

}  // namespace dimwise::models
