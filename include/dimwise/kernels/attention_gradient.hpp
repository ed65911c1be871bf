// dimwise/kernels/attention_gradient.hpp -- the way back of fused attention: gradients of q, k, v and of a bias.
//
// Layer: kernels. Includes: the attention_*.hpp headers and executor.hpp.
// Tests: tests/kernels/attention_gradient.test.cpp. Benchmark: benchmarks/bench_training.cpp
//
// Scores are computed again, block by block, from what the way forth read and the lse that it gave; five products for
// each pair, none of them stored whole (attention_gradient_plan.hpp). A task is one key head and all query heads that
// share a gradient with it, so that the order of every sum is that of the problem, on any executor.
//
//   attention_gradient_call call{forward_call, strides, gradients};
//   attention_gradient<Arch>(call, scratch, executor);
//
// History: 1. plain loops; 2. blocks of keys against panels of queries, everything transposed (lanes are queries) but
// the gradients of keys and values, which take weights as broadcasts: nothing is turned but q, d_out and d_q once for
// each span of keys.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention_gradient_plan.hpp>
#include <dimwise/kernels/attention_gradient_task.hpp>
#include <dimwise/kernels/configuration.hpp>
#include <dimwise/kernels/executor.hpp>
#include <dimwise/kernels/table.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

// Whether the gradients of two neighbouring heads meet in one sum.
[[nodiscard, gnu::always_inline]] inline bool share_a_sum(const attention_gradient_head& a,
                                                          const attention_gradient_head& b) noexcept {
  return (a.d_k != nullptr && a.d_k == b.d_k) || (a.d_v != nullptr && a.d_v == b.d_v) ||
         (a.d_bias != nullptr && a.d_bias == b.d_bias);
}

// Heads that one task computes: as many as share sums with their neighbours.
[[nodiscard, gnu::always_inline]] inline std::size_t end_of_task(const attention_gradient_call& call,
                                                                 std::size_t begin) noexcept {
  std::size_t end = begin + 1;
  while (end < call.forth.count && share_a_sum(call.gradients[end - 1], call.gradients[end])) ++end;
  return end;
}

[[nodiscard, gnu::always_inline]] inline std::size_t longest_task(const attention_gradient_call& call) noexcept {
  std::size_t longest = 1;
  for (std::size_t begin = 0, end = 0; begin < call.forth.count; begin = end) {
    end = end_of_task(call, begin);
    longest = longest < end - begin ? end - begin : longest;
  }
  return longest;
}

}  // namespace detail

/// Bytes of scratch (aligned to `scratch_alignment`) for an executor with this many workers. It grows with neither the
/// number of keys nor that of pairs; each query of a task takes one number.
template <class Arch>
[[nodiscard]] std::size_t attention_gradient_scratch_bytes(const attention_gradient_call& call,
                                                           std::size_t workers = 1) noexcept {
  return workers * sizeof(float) *
         detail::gradient_buffers<Arch>::float_count(call.forth.layout, detail::longest_task(call));
}

/// Writes d_q, d_k and d_v of every head, and adds to d_bias.
///
/// Rows that see nothing, and keys that nobody sees, get exactly 0. NaN or infinity in anything hidden has no effect;
/// elsewhere it reaches the gradients of the pairs that it belongs to. The result does not depend on the executor.
template <class Arch, Executor Threads>
void attention_gradient(const attention_gradient_call& call, void* scratch, Threads& threads) {
  const std::size_t longest = detail::longest_task(call);
  const std::size_t worker_floats = detail::gradient_buffers<Arch>::float_count(call.forth.layout, longest);
  std::size_t tasks = 0;
  for (std::size_t begin = 0; begin < call.forth.count; begin = detail::end_of_task(call, begin)) ++tasks;
  threads.parallel_for(tasks, [&](std::size_t task, std::size_t worker) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < task; ++i) begin = detail::end_of_task(call, begin);
    detail::attention_gradient_task<Arch>(call, static_cast<float*>(scratch) + worker * worker_floats, longest)
        .run(begin, detail::end_of_task(call, begin));
  });
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
