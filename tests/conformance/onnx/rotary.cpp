// tests/conformance/onnx/rotary.cpp -- ai.onnx RotaryEmbedding: features turned by given cosines and sines.
//
// Slots: 0 input, 1 cos_cache, 2 sin_cache, 3 position_ids -> 0 output.
// SPDX-License-Identifier: BSL-1.0
#include "conformance/attention/rotary_cache.hpp"

namespace conformance {
namespace {

using namespace dimwise;

void rotary_embedding(run& r) {
  const bool packed = r.rank(0) == 3;
  const batch sequences{r.extent(0, 0)};
  const seq positions{r.extent(0, packed ? 1 : 2)};
  const kv_heads heads{packed ? static_cast<std::size_t>(r.integer("num_heads")) : r.extent(0, 1)};
  const d_k features{r.extent(0, packed ? 2 : 3) / (packed ? heads.extent() : 1)};
  tensor<float, batch, seq, kv_heads, d_k> x;
  if (packed) {
    x = r.grouped<float>(0, sequences, positions, heads, features);
  } else {
    x = r.get<float, batch, kv_heads, seq, d_k>(0);
  }
  const auto pairs = r.flag("interleaved", false) ? rotary_pairs::interleaved : rotary_pairs::half_split;
  const auto turn = [&](const auto& cosines, const auto& sines) {
    const auto y = plain(rotary<seq, d_k>(x, cosines, sines, pairs));
    if (packed) {
      r.expect(0, y);
    } else {
      r.expect(0, permute<batch, kv_heads, seq, d_k>(y));
    }
  };
  if (r.has(3)) {
    const auto ids = row_ids(r.get<std::int64_t, batch, seq>(3));
    turn(gather<row>(r.get<float, row, turned>(1), ids), gather<row>(r.get<float, row, turned>(2), ids));
  } else {
    turn(r.get<float, batch, seq, turned>(1), r.get<float, batch, seq, turned>(2));
  }
}
const family rotary_cases{"RotaryEmbedding", rotary_embedding};

}  // namespace
}  // namespace conformance
