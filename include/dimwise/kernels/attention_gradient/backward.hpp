// dimwise/kernels/attention_gradient/backward.hpp -- the backward pass of fused attention: gradients of q, k, v and
// of a bias.
//
// Layer: kernels. Includes: the headers of attention_gradient/, executor.hpp.
// Tests: tests/kernels/attention_gradient/backward.test.cpp. Benchmark: benchmarks/training/training.cpp
//
// Scores are recomputed block by block from the inputs and the lse of the forward pass: five products per pair, none of
// them stored whole (attention_gradient/plan.hpp). A task is one key head and all query heads that share a gradient
// with it. If there are few tasks, each is split into parts, whose sums are joined in order: the order of every sum
// depends on the problem alone, not on the executor.
//
//   attention_gradient_call call{forward_call, strides, gradients};
//   attention_gradient<Arch>(call, scratch, executor);
//
// History: 1. scalar loops; 2. blocks of keys against panels of queries. Everything is transposed (lanes are queries)
// but the gradients of keys and values, which take weights as broadcasts: only q, d_out and d_q are transposed, once
// for each span of keys.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention_gradient/plan.hpp>
#include <dimwise/kernels/attention_gradient/task.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/gradient_table.hpp>
#include <dimwise/kernels/executor.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

// Joins the sums of the parts of a task in order, for the keys [begin, end).
template <class Arch>
void join_parts(const gradient_call_for<Arch>& call, const head_range& heads, element_of<Arch>* sums,
                std::size_t elements_of_part, std::size_t parts, std::size_t begin, std::size_t end) noexcept {
  const layout_for<Arch>& l = call.forth.layout;
  const std::size_t k = whole_registers<Arch>(l.head_dim);
  const std::size_t v = whole_registers<Arch>(l.value_dim);
  element_of<Arch>* const d_k = sums + begin * k;
  element_of<Arch>* const d_v = sums + l.keys * k + begin * v;
  for (std::size_t part = 1; part < parts; ++part) {
    add_elements<Arch>(d_k + part * elements_of_part, (end - begin) * k, d_k);
    add_elements<Arch>(d_v + part * elements_of_part, (end - begin) * v, d_v);
  }
  const attention_gradient_layout& to = call.layout;
  const gradient_head_for<Arch>& g = call.gradients[heads.begin];
  const auto first = static_cast<std::ptrdiff_t>(begin);
  if (g.d_k != nullptr)
    write_rows<Arch>(d_k, end - begin, l.head_dim, l.scale, false,
                     {g.d_k + first * to.d_k_row, to.d_k_row, to.d_k_feature});
  if (g.d_v != nullptr)
    write_rows<Arch>(d_v, end - begin, l.value_dim, 1.0F, false,
                     {g.d_v + first * to.d_v_row, to.d_v_row, to.d_v_feature});
}

}  // namespace detail

/// Bytes of scratch (aligned to `scratch_alignment`) for an executor with this many workers. Independent of the number
/// of pairs: it has one number per query of a task, and a sum per key if few tasks are split into parts.
template <class Arch>
[[nodiscard]] std::size_t attention_gradient_scratch_bytes(const detail::gradient_call_for<Arch>& call,
                                                           std::size_t workers = 1) noexcept {
  const detail::gradient_tasks<Arch> cut(call);
  return sizeof(element_of<Arch>) *
         (workers * detail::gradient_buffers<Arch>::element_count(call.forth.layout, cut.longest) +
          cut.tasks * cut.parts * cut.elements_of_part);
}

/// Writes d_q, d_k and d_v of every head, and adds to d_bias.
///
/// Rows that see no key, and keys that no query sees, get exactly 0. NaN and infinity in hidden elements have no
/// effect; elsewhere they reach the gradients of their pairs. The result does not depend on the executor.
template <class Arch, Executor Threads>
void attention_gradient(const detail::gradient_call_for<Arch>& call, void* scratch, Threads& threads) {
  const detail::gradient_tasks<Arch> cut(call);
  const std::size_t worker_elements = detail::gradient_buffers<Arch>::element_count(call.forth.layout, cut.longest);
  element_of<Arch>* const buffers = static_cast<element_of<Arch>*>(scratch);
  element_of<Arch>* const sums = buffers + threads.worker_count() * worker_elements;
  threads.parallel_for(cut.tasks * cut.parts, [&](std::size_t i, std::size_t worker) {
    const detail::head_range heads = detail::heads_of_task(call, i / cut.parts);
    detail::attention_gradient_task<Arch> task(call, buffers + worker * worker_elements, cut.longest);
    if (cut.parts == 1) task.run(heads);
    else task.run_part(heads, i % cut.parts, cut.parts, sums + i * cut.elements_of_part);
  });
  if (cut.parts == 1) return;
  const std::size_t keys = call.forth.layout.keys;
  const std::size_t step = detail::gradient_plan<Arch>(call.forth.layout).span;
  const std::size_t spans = (keys + step - 1) / step;
  threads.parallel_for(cut.tasks * spans, [&](std::size_t i, std::size_t) {
    const std::size_t task = i / spans;
    const std::size_t begin = i % spans * step;
    detail::join_parts<Arch>(call, detail::heads_of_task(call, task), sums + task * cut.parts * cut.elements_of_part,
                             cut.elements_of_part, cut.parts, begin, detail::min(begin + step, keys));
  });
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
