// dimwise/kernels/decode/attention.hpp -- decoding: attention of a few queries over a long KV cache, bound by memory
// bandwidth.
//
// Layer: kernels. Includes: decode/task.hpp, executor.hpp.
// Tests: tests/kernels/decode/attention.test.cpp. Benchmark: benchmarks/kernels/attention.cpp
//
// K and V are read once for all query heads of a key head. The cache is divided into parts of a fixed number of keys,
// which are distributed to threads and merged by their log-sum-exp in a fixed order, so the result does not depend on
// the threads. Takes the same layout and list of heads as `attention`.
//
//   decode<Arch>(layout, heads, head_count, 4, scratch, executor);    // 4 query heads share each key head
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/types.hpp>
#include <dimwise/kernels/decode/merge.hpp>
#include <dimwise/kernels/decode/task.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/executor.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

/// Bytes of scratch (aligned to `scratch_alignment`): a small part per worker, and a row of output per query and part
/// of the cache.
template <class Arch>
[[nodiscard]] constexpr std::size_t decode_scratch_bytes(const attention_layout& layout, std::size_t head_count,
                                                         std::size_t group, std::size_t workers = 1) noexcept {
  const detail::decode_plan<Arch> plan(layout, head_count, group);
  return sizeof(float) * (workers * plan.worker_floats + plan.groups * plan.parts * plan.part_floats);
}

/// Computes `attention` for few queries. `group` consecutive heads in the list share k, v and visible_keys; head_count
/// is a multiple of it.
template <class Arch, Executor Threads, class Score = identity_score>
  requires ScoreFunction<Score, Arch>
void decode(const attention_layout& layout, const attention_head* heads, std::size_t head_count, std::size_t group,
            void* scratch, Threads& threads, const Score& score = {}) {
  if (layout.queries == 0 || head_count == 0) return;
  const detail::decode_plan<Arch> plan(layout, head_count, group);
  float* const workers = static_cast<float*>(scratch);
  float* const parts = workers + threads.worker_count() * plan.worker_floats;
  threads.parallel_for(plan.groups * plan.parts, [&](std::size_t task, std::size_t worker) {
    const std::size_t first_head = task / plan.parts * group;
    detail::decode_task<Arch, Score>(layout, plan, heads + first_head, first_head,
                                     workers + worker * plan.worker_floats, parts + task * plan.part_floats, score)
        .run(task % plan.parts);
  });
  threads.parallel_for(plan.groups, [&](std::size_t task, std::size_t) {
    detail::merge_parts<Arch>(layout, plan, heads + task * group, parts + task * plan.parts * plan.part_floats);
  });
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
