// SPDX-License-Identifier: BSL-1.0
// dimwise/models/common/sinusoids.hpp -- sinusoidal positions with sines in the first half of the features and cosines
// in the second half.
//
// Layer: models. The operation `sinusoid` interleaves sines and cosines; these models have halves.
// Tests: the conformance suite `encoder_decoders`, cases marian, pegasus and m2m_100
#pragma once

#include <dimwise/tensor/tensor.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace dimwise::models {

/// The frequencies of sinusoidal positions. Pair i of n turns by the position times 10000^(−i/n) with `halves`, and
/// times 10000^(−i/(n − 1)) with `closed_halves`, whose last pair turns by 1/10000.
enum class sinusoid_kind { none, halves, closed_halves };

/// The frequencies of `pairs` pairs. Throws `number_error` for `none`.
[[nodiscard]] inline std::vector<double> frequencies_of(sinusoid_kind kind, std::size_t pairs) {
  const auto n = static_cast<double>(pairs);
  const auto with = [&](double steps) {
    std::vector<double> all(pairs);
    for (std::size_t i = 0; i < pairs; ++i) { all[i] = std::pow(10000.0, -static_cast<double>(i) / steps); }
    return all;
  };
  switch (kind) {
    case sinusoid_kind::none:
      break;
    case sinusoid_kind::halves:
      return with(n);
    case sinusoid_kind::closed_halves:
      return with(pairs > 1 ? n - 1 : 1);
  }
  dimwise::detail::raise<number_error>(error{} << "sinusoids_of: the model has no sinusoidal positions");
}

/// The sinusoidal positions of these rows: [P] -> [P, F]. Rows below `zeros` are zero. F has an even
/// extent.
template <class F, class P, class Row>
[[nodiscard]] tensor<float, P, F> sinusoids_of(sinusoid_kind kind, const tensor<id<Row>, P>& rows, const P& positions,
                                               const F& features, std::size_t zeros) {
  tensor<float, P, F> all(positions, features);
  const std::size_t pairs = features.extent() / 2;
  const std::vector<double> frequencies = frequencies_of(kind, pairs);
  float* to = all.overwrite();
  for (const id<Row>& row : rows.values()) {
    const double position = static_cast<double>(row.value);
    const double shown = row.value < zeros ? 0 : 1;
    for (std::size_t i = 0; i < pairs; ++i) {
      to[i] = static_cast<float>(shown * std::sin(position * frequencies[i]));
      to[pairs + i] = static_cast<float>(shown * std::cos(position * frequencies[i]));
    }
    to += features.extent();
  }
  return all;
}

}  // namespace dimwise::models
