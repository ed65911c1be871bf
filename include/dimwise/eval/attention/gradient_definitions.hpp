// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/gradient_definitions.hpp -- the backward kernel of attention for the heads of a formula.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/operations/attention.test.cpp
#pragma once

#include <dimwise/eval/attention/gradient.hpp>

#include <algorithm>
#include <unordered_set>

namespace dimwise::detail {

// Of one call, heads that share the gradient of a bias are neighbours: it ends before others would meet.
inline std::size_t end_of_attention_call(const aligned_vector<kernels::attention_gradient_head>& heads,
                                         std::size_t begin, std::size_t group) {
  if (heads[begin].d_bias == nullptr) { return heads.size(); }
  std::unordered_set<const float*> seen;
  std::size_t end = begin;
  for (; end < heads.size(); ++end) {
    const float* const here = heads[end].d_bias;
    const bool is_neighbour = end > begin && here == heads[end - 1].d_bias;
    if (!is_neighbour && !seen.insert(here).second) { break; }
  }
  if (end == heads.size()) { return end; }
  // Heads whose gradients of keys or values are added up stay together: one task does them one after the other.
  const std::size_t together = heads[begin].d_k == nullptr && heads[begin].d_v == nullptr ? 1 : group;
  return begin + std::max(together, (end - begin) / together * together);
}

template <std::size_t K>
void run_attention_gradient(context& cx, const kernels::attention_call& forth, const attended_part& part,
                            const attention_gradients_of<K>& to, const head_extents& all) {
  const std::size_t count = all.count;
  if (forth.layout.queries == 0 && forth.layout.keys == 0) { return; }
  kernels::attention_gradient_call call;
  call.forth = forth;
  call.layout = to.layout;
  aligned_vector<kernels::attention_gradient_head> heads;
  heads.resize(count);
  const auto i0 = static_cast<std::ptrdiff_t>(part.first_query);
  const auto j0 = static_cast<std::ptrdiff_t>(part.first_key);
  std::size_t at = 0;
  kernels::for_each_row(nest_over(all.rank, all.extents, to.strides),
                        [&](const std::ptrdiff_t(&o)[K], std::size_t many, const std::ptrdiff_t(&s)[K]) {
    for (std::size_t i = 0; i < many; ++i, ++at) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      const auto pointer = [](float* p, std::ptrdiff_t by) { return p == nullptr ? nullptr : p + by; };
      kernels::attention_gradient_head& h = heads[at];
      h = kernels::attention_gradient_head{};
      h.d_out = to.g + o[0] + j * s[0] + i0 * call.layout.d_out_row;
      h.d_q = pointer(to.d_q, o[1] + j * s[1] + i0 * call.layout.d_q_row);
      h.d_k = pointer(to.d_k, o[2] + j * s[2] + j0 * call.layout.d_k_row);
      h.d_v = pointer(to.d_v, o[3] + j * s[3] + j0 * call.layout.d_v_row);
      h.d_bias = pointer(to.d_bias, o[4] + j * s[4] + i0 * call.layout.d_bias_query + j0 * call.layout.d_bias_key);
    }
  });
  const kernels::gradient_table& table = kernels::active_gradients();
  for (std::size_t begin = 0; begin < count;) {
    const std::size_t end = end_of_attention_call(heads, begin, forth.group);
    call.forth.heads = forth.heads + begin;
    call.forth.count = end - begin;
    call.forth.score.slopes = forth.score.slopes == nullptr ? nullptr : forth.score.slopes + begin;
    call.gradients = heads.data() + begin;
    table.attention_gradient(call, scratch(table.attention_gradient_bytes(call, cx.runner().worker_count())).data(),
                             cx.runner());
    begin = end;
  }
}

}  // namespace dimwise::detail
