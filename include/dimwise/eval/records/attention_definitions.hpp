// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/attention_definitions.hpp -- fused attention, head by head.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/eval/plan/plan.test.cpp, tests/eval/attention/attention.test.cpp
#pragma once

#include <dimwise/eval/attention/documents.hpp>
#include <dimwise/eval/attention/kernel.hpp>
#include <dimwise/eval/records/attention_scores_definitions.hpp>
#include <dimwise/tensor/memory/owner.hpp>

namespace dimwise::detail {

// ---- queries, keys and values --------------------------------------------------------------------------------------

// Queries times a scale of their own, in a buffer: far fewer numbers than the scores, and no score costs a
// multiplication more.
template <class C>
void scale_queries(lowered<C>& q, name_list names, kernels::operation f, const lowered<C>& factor,
                   const std::ptrdiff_t* factor_strides) {
  lowered<C> scaled;
  const std::size_t rank = names.size;
  for (std::size_t i = 0; i < rank; ++i) { scaled.axes[i].extent = q.axes[i].extent; }
  scaled.buffer.resize(checked_size_of(scaled.axes, rank, names.at, sizeof(C), "scaled"));
  make_contiguous(scaled.axes, rank);
  std::ptrdiff_t strides[3][max_rank] = {};
  for (std::size_t i = 0; i < rank; ++i) {
    strides[0][i] = scaled.axes[i].stride;
    strides[1][i] = q.axes[i].stride;
    strides[2][i] = factor_strides[i];
  }
  const auto& table = kernels::active_for<C>();
  C* const to = scaled.buffer.data();
  kernels::for_each_row(nest_over(rank, scaled.axes, strides),
                        [&](const std::ptrdiff_t(&o)[3], std::size_t n, const std::ptrdiff_t(&s)[3]) {
    const bool in_one = s[0] == 1 && s[1] == 1 && (s[2] == 0 || s[2] == 1);
    const std::size_t many = in_one ? n : 1;
    for (std::size_t i = 0; i < n; i += many) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      table.zip(f, many, q.data + o[1] + j * s[1], 1, factor.data + o[2] + j * s[2], in_one ? s[2] : 0,
                to + o[0] + j * s[0]);
    }
  });
  q = static_cast<lowered<C>&&>(scaled);
  q.data = q.buffer.data();
}

// An operand in memory; where a kernel rounds what it reads, before it is rounded.
template <class C>
lowered<C> read_unrounded(walk& w, const record<C>& r, bool kernel_rounds) {
  const bool rounds = r.kind() == record_kind::rounded && r.index == rounded_to_bfloat16 && r.child[0]->is_float;
  return read_record(w, kernel_rounds && rounds ? *r.child[0] : r);
}

// Keys or values as the kernel reads them: numbers, or, in float, elements as they are stored.
template <class C>
class attended_rows {
 public:
  attended_rows(walk& w, const record<C>& r, name_of key, bool kernel_rounds)
      : stored_(reads_stored && r.kind() == record_kind::stored ? new stored_rows : nullptr),
        rows_(read(w, r, key, kernel_rounds, stored_)) {}
  [[nodiscard]] const axis* axes() const {
    return stored_.get() != nullptr ? stored_->elements.layout.axes : rows_.axes;
  }
  // The strides of its scale along some names.
  void align_scale(name_list to, std::ptrdiff_t* strides) const {
    if (stored_.get() != nullptr) { align_names(to, stored_->scale_axes, stored_->scale.axes, strides); }
  }
  // Those of a head, which begin `offset` elements after the first, and its scale.
  void point(const C*& to, kernels::quantised_data& bits, std::ptrdiff_t offset, std::ptrdiff_t row,
             std::ptrdiff_t scale_offset) const {
    if (stored_.get() == nullptr) {
      to = rows_.data + offset;
      return;
    }
    bits = stored_->data;
    bits.data = static_cast<const std::byte*>(bits.data) + offset * static_cast<std::ptrdiff_t>(stored_->bytes);
    bits.row = row;
    if (bits.scale != nullptr) { bits.scale += scale_offset; }
  }

 private:
  static constexpr bool reads_stored = std::is_same_v<C, float>;
  static lowered<C> read(walk& w, const record<C>& r, name_of key, bool kernel_rounds, owner<stored_rows>& stored) {
    if (stored.get() != nullptr) {
      const auto read_rows = r.template facts_as<stored_facts_of_record>().read;
      if (read_rows != nullptr && read_rows(w, r.node, key, *stored.get())) { return {}; }
      stored = owner<stored_rows>();
    }
    return read_unrounded(w, r, kernel_rounds);
  }

  owner<stored_rows> stored_;  // null where the kernel cannot read what is stored
  lowered<C> rows_;
};

// The operands of one attention, in the order in which it is computed.
template <class C>
struct attention_operands {
  lowered<C> q;
  attended_rows<C> k;
  attended_rows<C> v;

  attention_operands(walk& w, const attention_of_records<C>& m, bool kernel_rounds)
      : q(read_unrounded(w, *m.query, kernel_rounds)),
        k(w, *m.key, m.key_axis, kernel_rounds),
        v(w, *m.values, m.key_axis, kernel_rounds) {}
};

// ---- layout --------------------------------------------------------------------------------------------------------

inline axis axis_named(name_of name, name_list names, const axis* axes) {
  const short place = name == nullptr ? short{-1} : names.place_of(name);
  return place < 0 ? axis{1, 0} : axes[place];
}
inline std::ptrdiff_t stride_named(name_of name, name_list names, const std::ptrdiff_t* strides) {
  const short place = name == nullptr ? short{-1} : names.place_of(name);
  return place < 0 ? 0 : strides[place];
}
inline void align_strides(name_list to, name_list from, const std::ptrdiff_t* strides, std::ptrdiff_t* aligned) {
  for (std::size_t i = 0; i < to.size; ++i) { aligned[i] = stride_named(to.at[i], from, strides); }
}

// The extents of the loops over heads.
template <class C>
void write_loops(const record<C>& r, const attention_of_records<C>& m, axis* to) {
  axis all[max_rank];
  r.write_extents(all);
  for (std::size_t i = 0; i < m.head_count; ++i) { to[i] = all[m.result.place_of(m.heads[i])]; }
}
template <class C>
attention_size size_of_attention(const attention_of_records<C>& m, const axis* loops, const axis* q, const axis* v) {
  attention_size size;
  for (std::size_t i = 0; i < m.head_count; ++i) {
    size.heads *= loops[i].extent;
    if (i >= m.shared) { size.group *= loops[i].extent; }
  }
  size.queries = axis_named(m.row, m.query->shape->axes, q).extent;
  size.values = axis_named(m.value, m.values->shape->axes, v).extent;
  return size;
}
// The same before anything is read.
template <class C>
attention_size size_before_reading(const attention_of_records<C>& m, const axis* loops) {
  axis q[max_rank];
  axis v[max_rank];
  m.query->write_extents(q);
  m.values->write_extents(v);
  return size_of_attention(m, loops, q, v);
}

template <class C>
kernels::attention_layout_of<C> layout_of(const attention_of_records<C>& m, const attention_operands<C>& x,
                                          const attention_chain<C>& chain, const axis* to) {
  const name_list q = m.query->shape->axes;
  const name_list k = m.key->shape->axes;
  const name_list v = m.values->shape->axes;
  const name_list scores = m.softmax->shape->axes;
  const axis rows = axis_named(m.row, q, x.q.axes);
  const axis keys = axis_named(m.key_axis, k, x.k.axes());
  const axis features = axis_named(m.feature, q, x.q.axes);
  const axis values = axis_named(m.value, v, x.v.axes());
  kernels::attention_layout_of<C> layout;
  layout.queries = rows.extent;
  layout.keys = keys.extent;
  layout.head_dim = features.extent;
  layout.value_dim = values.extent;
  layout.q_row = rows.stride;
  layout.k_row = keys.stride;
  layout.v_row = axis_named(m.key_axis, v, x.v.axes()).stride;
  layout.out_row = axis_named(m.row, m.result, to).stride;
  layout.q_feature = features.stride;
  layout.k_feature = axis_named(m.feature, k, x.k.axes()).stride;
  layout.v_feature = values.stride;
  layout.out_feature = axis_named(m.value, m.result, to).stride;
  if (chain.has_bias) {
    layout.bias_query = stride_named(m.row, scores, chain.bias_strides);
    layout.bias_key = stride_named(m.key_axis, scores, chain.bias_strides);
  }
  if (chain.has_allow) {
    layout.allow_query = stride_named(m.row, scores, chain.allow_strides);
    layout.allow_key = stride_named(m.key_axis, scores, chain.allow_strides);
  }
  layout.scale = chain.scale;
  layout.window = chain.window;
  return layout;
}

// ---- head by head --------------------------------------------------------------------------------------------------

// Where every role is along the loops over heads: q, k, v, result, bias, mask, lengths, slopes, scales of k and v,
// sums.
inline constexpr std::size_t attention_pointers = 11;

// Calls `run(call, part)` for every document, or once, with every head in `call`.
template <class C, class Run>
void attend_heads(const attention_of_records<C>& m, attention_chain<C>& chain, attention_operands<C>& x,
                  const attention_size& size, const axis* loops, target<C> to, const named_memory_of<C>* sums,
                  const Run& run) {
  if (m.scores.factor != nullptr) {
    scale_queries(x.q, m.query->shape->axes, chain.by_factor, chain.factor, chain.factor_strides);
  }
  kernels::attention_call_of<C> call;
  auto& layout = call.layout;
  layout = layout_of(m, x, chain, to.axes);
  const name_list heads_of = m.loops();
  const name_list scores = m.softmax->shape->axes;
  std::ptrdiff_t strides[attention_pointers][max_rank];
  for (auto& along : strides) {
    for (std::size_t i = 0; i < m.head_count; ++i) { along[i] = 0; }
  }
  align_names(heads_of, m.query->shape->axes, x.q.axes, strides[0]);
  align_names(heads_of, m.key->shape->axes, x.k.axes(), strides[1]);
  align_names(heads_of, m.values->shape->axes, x.v.axes(), strides[2]);
  align_names(heads_of, m.result, to.axes, strides[3]);
  if (chain.has_bias) { align_strides(heads_of, scores, chain.bias_strides, strides[4]); }
  if (chain.has_allow) { align_strides(heads_of, scores, chain.allow_strides, strides[5]); }
  if (!chain.lengths.empty()) { align_strides(heads_of, scores, chain.length_strides, strides[6]); }
  if (!chain.slopes.empty()) { align_strides(heads_of, scores, chain.slope_strides, strides[7]); }
  x.k.align_scale(heads_of, strides[8]);
  x.v.align_scale(heads_of, strides[9]);
  if (sums != nullptr) {
    layout.lse_query = axis_named(m.row, sums->names, sums->axes).stride;
    align_names(heads_of, sums->names, sums->axes, strides[10]);
  }
  aligned_vector<kernels::attention_head_of<C>> heads(size.heads);
  aligned_vector<float> slopes(chain.slopes.empty() ? 0 : size.heads);
  call.heads = heads.data();
  call.count = size.heads;
  call.group = size.group;
  each_document(chain.query_documents, chain.key_documents, {0, layout.queries, 0, layout.keys},
                [&](const attended_part& part) {
    const auto i0 = static_cast<std::ptrdiff_t>(part.first_query);
    const auto j0 = static_cast<std::ptrdiff_t>(part.first_key);
    layout.queries = part.queries;
    layout.keys = part.keys;
    layout.window.offset = chain.window.offset + i0 - j0;
    call.few_queries = few_queries(layout.queries, call.group);
    std::size_t at = 0;
    kernels::for_each_row(nest_over(m.head_count, loops, strides),
                          [&](const std::ptrdiff_t(&o)[attention_pointers], std::size_t many,
                              const std::ptrdiff_t(&s)[attention_pointers]) {
      for (std::size_t i = 0; i < many; ++i, ++at) {
        const auto place = [&, j = static_cast<std::ptrdiff_t>(i)](std::size_t k) { return o[k] + j * s[k]; };
        kernels::attention_head_of<C>& h = heads[at];
        h = {};
        h.q = x.q.data + place(0) + i0 * layout.q_row;
        x.k.point(h.k, h.k_quantised, place(1) + j0 * layout.k_row, layout.k_row, place(8));
        x.v.point(h.v, h.v_quantised, place(2) + j0 * layout.v_row, layout.v_row, place(9));
        h.out = to.data + place(3) + i0 * layout.out_row;
        if (sums != nullptr) { h.lse = sums->data + place(10) + i0 * layout.lse_query; }
        if (chain.has_bias) { h.bias = chain.bias.data + place(4) + i0 * layout.bias_query + j0 * layout.bias_key; }
        if (chain.has_allow) {
          h.allow = chain.allow.data + place(5) + i0 * layout.allow_query + j0 * layout.allow_key;
        }
        if (!chain.lengths.empty()) {
          const auto length = static_cast<std::size_t>(chain.lengths[static_cast<std::size_t>(place(6))]);
          h.visible_keys = length < part.first_key ? 0 : length - part.first_key;
        }
        if (!slopes.empty()) { slopes[at] = chain.slopes[static_cast<std::size_t>(place(7))]; }
      }
    });
    if constexpr (takes_functions<C>) {
      call.score.soft_cap = chain.cap;
      call.score.slopes = slopes.empty() ? nullptr : slopes.data();
      call.score.distance = chain.distance + j0 - i0;
      chain.function.describe(call.score);
    }
    run(call, part);
  });
  chain.function.rethrow();
}

// ---- the strategy --------------------------------------------------------------------------------------------------

template <class C>
bool attend(walk& w, const record<C>& r, const attention_of_records<C>& m, target<C> to,
            const named_memory_of<C>* sums = nullptr) {
  axis loops[max_rank];
  write_loops(r, m, loops);
  const attention_size size = size_before_reading(m, loops);
  if (!attention_kernel<C>::takes(size)) { return false; }
  attention_chain<C> chain;
  score_collector<C>(w, m, chain).collect(*m.softmax->child[0]);
  if (!chain.fit()) { return false; }
  const attention_kernel<C> kernel(size, m.in_bfloat16);
  attention_operands<C> x(w, m, kernel.rounds());
  if (size.empty()) { return true; }
  note(w, size.kind(), r, [&] { return "softmax of scores, contracted with values" + kernel.words(); });
  if (w.computes()) {
    attend_heads(m, chain, x, size, loops, to, sums,
                 [&](const kernels::attention_call_of<C>& call, const attended_part&) {
      if (call.layout.queries > 0) { kernel.attend(call, w.cx.runner()); }
    });
  }
  return true;
}

template <class C>
bool attend(walk& w, const record<C>& r, target<C> to, const named_memory_of<C>* sums) {
  attention_of_records<C> m;
  return r.kind() == record_kind::product && match_attention(r, m) && attend(w, r, m, to, sums);
}
#if DIMWISE_DETAIL_HAS_LIBRARY
template bool attend<float>(walk&, const record<float>&, target<float>, const named_memory_of<float>*);
template bool attend<double>(walk&, const record<double>&, target<double>, const named_memory_of<double>*);
#endif

// The context of all heads of a position is contiguous, as the projection that follows reads it: the axes of the result
// in the order of a buffer.
template <class C>
bool order_context(const record<C>& r, const attention_of_records<C>& m, std::size_t* order) {
  std::size_t n = 0;
  const auto add = [&](name_of name) {
    if (name != nullptr) { order[n++] = static_cast<std::size_t>(m.result.place_of(name)); }
  };
  const auto add_heads = [&](bool are_heads) {
    for (std::size_t i = 0; i < m.head_count; ++i) {
      const auto place = static_cast<std::size_t>(m.result.place_of(m.heads[i]));
      if (has_any(r.shape->facts[place].abilities, ability::heads) == are_heads) { add(m.heads[i]); }
    }
  };
  add_heads(false);
  add(m.row);
  add_heads(true);
  add(m.value);
  return n == r.rank();
}

}  // namespace dimwise::detail
