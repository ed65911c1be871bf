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
template <class C>
std::size_t end_of_attention_call(const aligned_vector<kernels::attention_gradient_head_of<C>>& heads,
                                  std::size_t begin, std::size_t group) {
  if (heads[begin].d_bias == nullptr) { return heads.size(); }
  std::unordered_set<const C*> seen;
  std::size_t end = begin;
  for (; end < heads.size(); ++end) {
    const C* const here = heads[end].d_bias;
    const bool is_neighbour = end > begin && here == heads[end - 1].d_bias;
    if (!is_neighbour && !seen.insert(here).second) { break; }
  }
  if (end == heads.size()) { return end; }
  // Heads whose gradients of keys or values are added up stay together: one task does them one after the other.
  const std::size_t together = heads[begin].d_k == nullptr && heads[begin].d_v == nullptr ? 1 : group;
  return begin + std::max(together, (end - begin) / together * together);
}

// The gradients of an attention: where they are, and their strides along the heads.
template <class C>
struct attention_gradients {
  const C* g = nullptr;
  C* d_q = nullptr;
  C* d_k = nullptr;
  C* d_v = nullptr;
  C* d_bias = nullptr;
  std::ptrdiff_t strides[5][max_rank] = {};
  kernels::attention_gradient_layout layout{};

  attention_gradients(const record<C>& r, const attention_of_records<C>& m, const attention_back<C>& back) {
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
    named_memory_of<const C> arrived{back.g.data, {}, m.result};
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
void run_attention_gradient(context& cx, const kernels::attention_call_of<C>& forth, const attended_part& part,
                            const attention_gradients<C>& to, const attention_of_records<C>& m, const axis* loops) {
  constexpr std::size_t pointers = 5;
  const std::size_t count = forth.count;
  if (forth.layout.queries == 0 && forth.layout.keys == 0) { return; }
  kernels::attention_gradient_call_of<C> call;
  call.forth = forth;
  call.layout = to.layout;
  aligned_vector<kernels::attention_gradient_head_of<C>> heads;
  heads.resize(count);
  const auto i0 = static_cast<std::ptrdiff_t>(part.first_query);
  const auto j0 = static_cast<std::ptrdiff_t>(part.first_key);
  std::size_t at = 0;
  kernels::for_each_row(nest_over(m.head_count, loops, to.strides),
                        [&](const std::ptrdiff_t(&o)[pointers], std::size_t many, const std::ptrdiff_t(&s)[pointers]) {
    for (std::size_t i = 0; i < many; ++i, ++at) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      const auto pointer = [](C* p, std::ptrdiff_t by) { return p == nullptr ? nullptr : p + by; };
      kernels::attention_gradient_head_of<C>& h = heads[at];
      h = {};
      h.d_out = to.g + o[0] + j * s[0] + i0 * call.layout.d_out_row;
      h.d_q = pointer(to.d_q, o[1] + j * s[1] + i0 * call.layout.d_q_row);
      h.d_k = pointer(to.d_k, o[2] + j * s[2] + j0 * call.layout.d_k_row);
      h.d_v = pointer(to.d_v, o[3] + j * s[3] + j0 * call.layout.d_v_row);
      h.d_bias = pointer(to.d_bias, o[4] + j * s[4] + i0 * call.layout.d_bias_query + j0 * call.layout.d_bias_key);
    }
  });
  const auto& table = kernels::active_gradients_for<C>();
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

// Whether only queries, keys, values and a bias are tracked, and the record of this bias; null: there is none.
template <class C>
bool tracks_roles_alone(const attention_of_records<C>& m, const record<C>*& bias) {
  bias = nullptr;
  for (const record<C>* s = m.softmax->child[0]; s != m.scores.product;) {
    const bool is_scaled = s->kind() == record_kind::binary;
    const bool is_second = is_scaled && (is_number(*s->child[0]) || s->child[0] == m.scores.factor);
    if (is_scaled && s->child[is_second ? 0 : 1]->send != nullptr) { return false; }
    if (s->kind() == record_kind::biased && s->child[1]->send != nullptr) { bias = s->child[1]; }
    s = s->child[is_second ? 1 : 0];
  }
  return true;
}
// Heads whose gradients are added up are neighbours where keys and values have every dimension of heads that one of
// them has.
template <class C>
bool has_gradient_kernel(const attention_of_records<C>& m) {
  if (m.key->kind() == record_kind::stored || m.values->kind() == record_kind::stored) { return false; }
  const name_list shared{m.heads, m.shared};
  return is_subset_of(shared, m.key->shape->axes) && is_subset_of(shared, m.values->shape->axes);
}

template <class C>
bool attend_for_gradient(walk& w, const record<C>& r, target<C> to, attention_sums<C>& sums) {
  attention_of_records<C> m;
  const record<C>* bias = nullptr;
  if (!match_attention(r, m) || !has_gradient_kernel(m) || !tracks_roles_alone(m, bias)) { return false; }
  axis scores[max_rank];
  m.softmax->write_extents(scores);
  const name_list names = m.softmax->shape->axes;
  std::size_t size = 1;
  for (std::size_t i = 0; i < names.size; ++i) {
    if (names.at[i] == m.key_axis) { continue; }
    sums.names[sums.rank] = names.at[i];
    sums.elements.axes[sums.rank++] = scores[i];
    size *= scores[i].extent;
  }
  make_contiguous(sums.elements.axes, sums.rank);
  sums.elements.buffer.resize(size);
  const named_memory_of<C> memory = sums.memory();
  return attend(w, r, m, to, &memory);
}

// The gradient of queries that several heads read is that of each head, added up: the kernel writes each.
template <class C>
struct query_gradient {
  lowered<C> each;
  name_of names[max_rank] = {};
  std::size_t rank = 0;

  query_gradient(const attention_of_records<C>& m, const axis* loops, const named_memory_of<C>& d_q) {
    const auto add = [this](name_of name, extent_t extent) {
      names[rank] = name;
      each.axes[rank++] = {extent, 0};
    };
    for (std::size_t i = 0; i < m.head_count; ++i) {
      if (d_q.names.place_of(m.heads[i]) < 0) { add(m.heads[i], loops[i].extent); }
    }
    if (rank == 0) { return; }
    for (std::size_t i = 0; i < d_q.names.size; ++i) { add(d_q.names.at[i], d_q.axes[i].extent); }
    each.buffer.resize(make_contiguous(each.axes, rank));
    for (C& x : each.buffer) { x = 0; }
  }
  [[nodiscard]] named_memory_of<C> memory() { return named_memory_at(each.buffer.data(), each.axes, {names, rank}); }
  void add_to(const named_memory_of<C>& d_q) const {
    std::ptrdiff_t strides[2][max_rank];
    align_names({names, rank}, d_q.names, d_q.axes, strides[0]);
    for (std::size_t i = 0; i < rank; ++i) { strides[1][i] = each.axes[i].stride; }
    kernels::for_each_element(nest_over(rank, each.axes, strides),
                              [&](std::ptrdiff_t t, std::ptrdiff_t f) { d_q.data[t] += each.buffer.data()[f]; });
  }
};

template <class C>
bool attend_back(walk& w, const record<C>& r, const attention_back<C>& wanted) {
  attention_of_records<C> m;
  if (!match_attention(r, m) || !has_gradient_kernel(m)) { return false; }
  attention_chain<C> chain;
  score_collector<C>(w, m, chain).collect(*m.softmax->child[0]);
  if (!chain.fit()) { return false; }
  attention_operands<C> x(w, m, false);
  axis loops[max_rank];
  write_loops(r, m, loops);
  const attention_size size = size_of_attention(m, loops, x.q.axes, x.v.axes());
  if (size.empty()) { return true; }
  attention_back<C> back = wanted;
  query_gradient<C> by_head(m, loops, wanted.d_q);
  const bool is_added = wanted.d_q.data != nullptr && by_head.rank > 0;
  if (is_added) { back.d_q = by_head.memory(); }
  const attention_gradients<C> to(r, m, back);
  axis out[max_rank];
  write_axes(back.out, r.shape->axes, out);
  w.cx.count(plan_kind::attention);
  attend_heads(m, chain, x, size, loops, {back.out.data, out}, &back.sums,
               [&](const kernels::attention_call_of<C>& call, const attended_part& part) {
    run_attention_gradient<C>(w.cx, call, part, to, m, loops);
  });
  if (is_added) { by_head.add_to(wanted.d_q); }
  return true;
}

}  // namespace dimwise::detail
