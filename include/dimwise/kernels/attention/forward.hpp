// dimwise/kernels/attention/forward.hpp -- fused attention: softmax(q k^T) v for a list of heads, without storing all
// scores.
//
// Layer: kernels. Includes: the headers of attention/, executor.hpp.
// Tests: tests/kernels/attention/forward.test.cpp. Benchmark: benchmarks/kernels/attention.cpp
//
// A task is a few strips of queries of one head. It iterates over the keys in blocks: scores of a block, their maximum,
// weights, weighted values (attention/tile.hpp, attention/softmax.hpp). Blocks form a grid that starts at key 0, and
// the arithmetic of a strip does not depend on its neighbours, so the result is the same for every number of threads.
// Blocks outside the window are skipped; blocks inside it are not masked.
//
//   serial_executor executor;
//   attention<Arch>(layout, heads, head_count, scratch, executor);
//   attention<Arch>(layout, heads, head_count, scratch, executor, [](auto s, auto at) { return s; });
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/plan.hpp>
#include <dimwise/kernels/attention/task.hpp>
#include <dimwise/kernels/attention/types.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/executor.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

/// Bytes of scratch (aligned to `scratch_alignment`) for an executor with this many workers. Independent of the number
/// of queries and keys.
template <class Arch>
[[nodiscard]] constexpr std::size_t attention_scratch_bytes(const layout_for<Arch>& layout,
                                                            std::size_t workers = 1) noexcept {
  return workers * sizeof(element_of<Arch>) *
         detail::attention_buffers<Arch>::element_count(layout, detail::strips_per_task<Arch>(layout));
}

/// Attention of every head in the list: out[i] = softmax_j(score(scale q[i].k[j]) + bias[i,j]) . v[j].
///
/// A query that sees no key, or whose logits are all -inf, gets exactly 0 (and lse -inf). NaN and infinity in hidden
/// elements and in values with a logit of -inf have no effect; elsewhere they reach the rows that see them. The result
/// does not depend on the executor.
template <class Arch, class Numbers = detail::float_numbers<Arch>, Executor Threads, class Score = identity_score>
  requires ScoreFunction<Score, Arch>
void attention(const layout_for<Arch>& layout, const head_for<Arch>* heads, std::size_t head_count, void* scratch,
               Threads& threads, const Score& score = {}) {
  if (layout.queries == 0 || layout.value_dim == 0) return;
  const std::size_t strips = detail::strips_per_task<Arch>(layout);
  const std::size_t task_queries = strips * detail::strip_width<Arch>;
  const std::size_t tasks_per_head = (layout.queries + task_queries - 1) / task_queries;
  const std::size_t worker_elements = detail::attention_buffers<Arch>::element_count(layout, strips);
  const std::size_t tasks = head_count * tasks_per_head;
  const auto task_at = [&](std::size_t task) -> detail::task_place<Arch> {
    if (task >= tasks) return {};
    // The last queries first: under a causal mask their tasks are the longest, and short tasks should come last.
    const std::size_t part = tasks_per_head - 1 - task % tasks_per_head;
    return {&heads[task / tasks_per_head], part * task_queries, detail::min(layout.queries, (part + 1) * task_queries)};
  };
  threads.parallel_for(tasks, [&](std::size_t task, std::size_t worker) {
    const detail::task_place<Arch> now = task_at(task);
    const detail::attention_buffers<Arch> buffers(static_cast<element_of<Arch>*>(scratch) + worker * worker_elements,
                                                  layout, strips);
    detail::attention_task<Arch, Score, Numbers>(layout, *now.head, task / tasks_per_head, buffers, score)
        .run(now.begin, now.end, task_at(task + 1));
  });
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
