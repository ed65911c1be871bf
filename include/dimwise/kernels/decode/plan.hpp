// SPDX-License-Identifier: BSL-1.0
// dimwise/kernels/decode/plan.hpp -- how a decoding step is divided into parts of the KV cache, and its scratch memory.
//
// Layer: kernels.
// Tests: tests/kernels/decode/attention.test.cpp
#pragma once

#include <dimwise/kernels/attention/types.hpp>
#include <dimwise/kernels/decode/block.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

/// The partition of a decoding step, and its memory. All counts are in floats and multiples of a cache line.
template <class Arch>
struct decode_plan {
  /// Keys of one task. Fixed: the parts determine the rounding, so they must not depend on the threads.
  static constexpr std::size_t part_keys = 512;
  static_assert(part_keys <= decode_score_row);

  [[nodiscard]] static constexpr std::size_t padded(std::size_t floats) noexcept { return (floats + 15) / 16 * 16; }

  std::size_t group;       ///< query heads of one key head
  std::size_t groups;      ///< key heads
  std::size_t rows;        ///< query rows of a group
  std::size_t parts;       ///< parts of a KV cache
  std::size_t q_row;       ///< padded features of a query
  std::size_t out_row;     ///< padded features of a value
  std::size_t statistics;  ///< padded rows
  std::size_t block_keys;  ///< keys of K and of V that stay in the L1 cache
  std::size_t turn_keys;   ///< keys whose scores and weights are computed together
  std::size_t worker_floats;
  std::size_t part_floats;

  // A block of K or V takes a third of an L1 cache, which also holds the next block.
  [[nodiscard]] static constexpr std::size_t keys_in_cache(std::size_t features) noexcept {
    constexpr std::size_t cache_floats = 4096;
    return features <= cache_floats / 64 ? 64 : features >= cache_floats / 16 ? 16 : 32;
  }

  constexpr decode_plan(const attention_layout& layout, std::size_t head_count, std::size_t group_size) noexcept
      : group(group_size),
        groups(head_count / group_size),
        rows(group_size * layout.queries),
        parts(layout.keys == 0 ? 1 : (layout.keys + part_keys - 1) / part_keys),
        q_row(padded(layout.head_dim)),
        out_row(padded(layout.value_dim)),
        statistics(padded(rows)),
        block_keys(keys_in_cache(q_row > out_row ? q_row : out_row)),
        turn_keys(rows == 1 ? part_keys : part_keys / 2),
        worker_floats(rows * (q_row + decode_score_row) + statistics + block_keys * (q_row + out_row)),
        part_floats(2 * statistics + rows * out_row) {}
};

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
