// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/attention/gradient_definitions.hpp -- the backward kernel of attention for the heads of a formula.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/operations/attention.test.cpp
#pragma once

#include <dimwise/eval/attention/gradient.hpp>
#include <dimwise/eval/records/attention_definitions.hpp>

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

// The gradients of an attention: where they are, and their strides along the heads.
struct attention_gradients {
  const float* g = nullptr;
  float* d_q = nullptr;
  float* d_k = nullptr;
  float* d_v = nullptr;
  float* d_bias = nullptr;
  std::ptrdiff_t strides[5][max_rank] = {};
  kernels::attention_gradient_layout layout{};

  attention_gradients(const record<float>& r, const attention_of_records& m, const attention_back& back) {
    const name_list heads = m.loops();
    const auto place = [&](const auto& memory, std::size_t k, name_of row, name_of feature, std::ptrdiff_t& by_row,
                           std::ptrdiff_t& by_feature) {
      if (memory.data == nullptr) { return memory.data; }
      align_names(heads, memory.names, memory.axes, strides[k]);
      by_row = axis_named(row, memory.names, memory.axes).stride;
      by_feature = axis_named(feature, memory.names, memory.axes).stride;
      return memory.data;
    };
    // The product's own names, where it renames an out<D>, are not those of its operands.
    named_memory_of<const float> arrived{back.g.data, {}, m.result};
    write_axes(back.g, r.shape->axes, arrived.axes);
    g = place(arrived, 0, m.row, m.value, layout.d_out_row, layout.d_out_feature);
    d_q = place(back.d_q, 1, m.row, m.feature, layout.d_q_row, layout.d_q_feature);
    d_k = place(back.d_k, 2, m.key_axis, m.feature, layout.d_k_row, layout.d_k_feature);
    d_v = place(back.d_v, 3, m.key_axis, m.value, layout.d_v_row, layout.d_v_feature);
    d_bias = place(back.d_bias, 4, m.row, m.key_axis, layout.d_bias_query, layout.d_bias_key);
  }
};

// The kernel for a part of the queries and keys of all heads.
template <class C>
void run_attention_gradient(context& cx, const kernels::attention_call& forth, const attended_part& part,
                            const attention_gradients& to, const attention_of_records& m, const axis* loops) {
  constexpr std::size_t pointers = 5;
  const std::size_t count = forth.count;
  if (forth.layout.queries == 0 && forth.layout.keys == 0) { return; }
  kernels::attention_gradient_call call;
  call.forth = forth;
  call.layout = to.layout;
  aligned_vector<kernels::attention_gradient_head> heads;
  heads.resize(count);
  const auto i0 = static_cast<std::ptrdiff_t>(part.first_query);
  const auto j0 = static_cast<std::ptrdiff_t>(part.first_key);
  std::size_t at = 0;
  kernels::for_each_row(nest_over(m.head_count, loops, to.strides),
                        [&](const std::ptrdiff_t(&o)[pointers], std::size_t many, const std::ptrdiff_t(&s)[pointers]) {
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

template <class C>
bool attend_back(context& cx, const record<C>& r, const attention_back& back) {
  attention_of_records m;
  if (!match_attention(r, m)) { return false; }
  walk w{cx, nullptr};
  attention_chain chain;
  score_collector(w, m, chain).collect(*m.softmax->child[0]);
  if (!chain.fit()) { return false; }
  attention_operands x(w, m, false);
  axis loops[max_rank];
  write_loops(r, m, loops);
  const attention_size size = size_of_attention(m, loops, x.q.axes, x.v.axes());
  if (size.empty()) { return true; }
  const attention_gradients to(r, m, back);
  axis out[max_rank];
  write_axes(back.out, r.shape->axes, out);
  cx.count(plan_kind::attention);
  attend_heads(m, chain, x, size, loops, {back.out.data, out}, &back.sums,
               [&](const kernels::attention_call& call, const attended_part& part) {
    run_attention_gradient<C>(cx, call, part, to, m, loops);
  });
  return true;
}

}  // namespace dimwise::detail
