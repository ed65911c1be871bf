// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/adjoints_definitions.hpp -- the adjoints of views, ids, products and attention.
//
// Layer: grad. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/operations/
#pragma once

#include <dimwise/grad/record/adjoints_of_elements_definitions.hpp>
#include <dimwise/grad/record/recorded_value_definitions.hpp>
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/attention/gradient_definitions.hpp>
#endif

#include <optional>

namespace dimwise::detail {

// ---- views ----------------------------------------------------------------------------------------------------------

// A view that gives one axis another name. What is in memory and a product know their axes by their places.
template <class C>
void send_renamed(walk& w, const record<C>& x, const record<C>& g, name_of now, name_of then) {
  static constexpr view_facts of_marks{view_kind::marks};
  name_of names[max_rank] = {};
  for (std::size_t i = 0; i < g.rank(); ++i) { names[i] = g.shape->axes.at[i] == now ? then : g.shape->axes.at[i]; }
  adjoint_record<C> renamed(records::view<C>, g);
  if (g.kind() == record_kind::leaf || g.kind() == record_kind::product) {
    renamed.r = g;
    renamed.r.shape = &renamed.shape;
  } else {
    renamed.r.facts = &of_marks;
    renamed.r.index = 0;
    renamed.r.child[0] = &g;
  }
  renamed.shape.axes = {names, g.rank()};
  send_to(w, x, renamed.r);
}

// A kind that is not handled does not compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
template <class C>
void send_view(walk& w, const record<C>& r, const record<C>& g) {
  const record<C>& x = *r.child[0];
  const auto& facts = r.template facts_as<view_facts>();
  switch (facts.kind) {
    case view_kind::marks:
    case view_kind::regroup:
      return send_to(w, x, g);
    case view_kind::broadcast:
      return send_reduced(w, x, g);
    case view_kind::rename:
      if (facts.old_count == 1 && facts.new_count == 1) {
        return send_renamed(w, x, g, r.shape->axes.at[facts.first], x.shape->axes.at[facts.first]);
      }
      break;
    case view_kind::part:
    case view_kind::diagonal:
    case view_kind::at:
    case view_kind::slice:
    case view_kind::unroll:
    case view_kind::pool:
      break;
  }
  adjoint_record<C> back(records::view_back<C>, x);
  back.r.node = &r;
  back.r.child[0] = &g;
  send_to(w, x, back.r);
}

#pragma GCC diagnostic pop

// ---- ids ------------------------------------------------------------------------------------------------------------

// By the ids of `r`.
template <class C>
void send_by_ids(walk& w, const record_operation<C>& operation, const record<C>& r, const record<C>& g) {
  const record<C>& x = *r.child[0];
  adjoint_record<C> back(operation, x);
  back.r.facts = r.facts;
  back.r.node = r.node;
  back.r.child[0] = &g;
  send_to(w, x, back.r);
}
template <class C>
void send_gathered(walk& w, const record<C>& r, const record<C>& g) {
  send_by_ids(w, records::table_gradient<C>, r, g);
}
template <class C>
void send_scattered(walk& w, const record<C>& r, const record<C>& g) {
  send_by_ids(w, records::gathered<C>, r, g);
}

// ---- products -------------------------------------------------------------------------------------------------------

// d(a·b)/da = g·b over what only b has, d(a·b)/db = a·g over what only a has. What zeros of g meet is left out.
template <class C>
void send_product(walk& w, const record<C>& r, const record<C>& g) {
  const auto& facts = r.template facts_as<product_facts_of_record>();
  record_in_memory<C> arrived(w, g);
  name_of names[max_rank] = {};  // as the operands call them: out<D> where the result says D
  for (std::size_t i = 0; i < g.rank(); ++i) {
    names[i] = facts.result.at[r.shape->axes.place_of(g.shape->axes.at[i])];
  }
  arrived.shape.axes = {names, g.rank()};
  arrived.r.leaves_out = kernels::left_out::zeros;
  for (std::size_t k = 0; k < 2; ++k) {
    const record<C>& x = *r.child[k];
    if (x.send == nullptr) { continue; }
    const record<C>& y = *r.child[1 - k];
    const axis_names sums(arrived.shape.axes, x.shape->axes, false);
    const product_facts_of_record of_back{x.shape->axes, sums.names(), {nullptr, 0}};
    const plain_value_of<C> factor(y);
    adjoint_record<C> back(records::product<C>, x);
    back.r.facts = &of_back;
    back.r.child[0] = &arrived.r;
    back.r.child[1] = factor.value;
    send_to(w, x, back.r);
  }
}

#if !defined(DIMWISE_PLAIN_ONLY)
// The gradient of an operand, to which a kernel adds: zeros, without memory where the operand is not tracked.
template <class C>
struct zero_gradient_of : adjoint_record<C> {
  shared_storage<C> zeros{};
  lowered<C> elements;

  explicit zero_gradient_of(const record<C>& x) : adjoint_record<C>(records::memory<C>, x) {
    this->r.node = &elements;
    if (x.send == nullptr) { return; }
    x.write_extents(elements.axes);
    const extent_t n = make_contiguous(elements.axes, x.rank());
    zeros = shared_storage<C>(n);
    C* const to = zeros.write();
    fill_elements(to, n, C(0));
    elements.data = to;
    this->r.operation = &records::shared_leaf<C>;  // a leaf shares it
    this->r.node = &zeros;
  }
  [[nodiscard]] named_memory_of<C> memory() {
    return named_memory_at(const_cast<C*>(elements.data), elements.axes, this->shape.axes);
  }
  void send(walk& w, const record<C>& x) {
    send_to(w, x, this->r);
    zeros = {};
  }
};
template <class C>
bool send_attention(walk& w, const record<C>& r, const attention_back<C>& arrived) {
  attention_of_records<C> m;
  const record<C>* bias = nullptr;
  if (!match_attention(r, m) || !tracks_roles_alone(m, bias)) { return false; }
  zero_gradient_of<C> d_q(*m.query);
  zero_gradient_of<C> d_k(*m.key);
  zero_gradient_of<C> d_v(*m.values);
  std::optional<zero_gradient_of<C>> d_bias;
  attention_back<C> back = arrived;
  back.d_q = d_q.memory();
  back.d_k = d_k.memory();
  back.d_v = d_v.memory();
  if (bias != nullptr) { back.d_bias = d_bias.emplace(*bias).memory(); }
  if (!attend_back(w, r, back)) { return false; }
  d_q.send(w, *m.query);
  d_k.send(w, *m.key);
  d_v.send(w, *m.values);
  if (bias != nullptr) { d_bias->send(w, *bias); }
  return true;
}
#endif

#if DIMWISE_DETAIL_HAS_LIBRARY
#if !defined(DIMWISE_PLAIN_ONLY)
template bool send_attention<float>(walk&, const record<float>&, const attention_back<float>&);
template bool send_attention<double>(walk&, const record<double>&, const attention_back<double>&);
#endif
#define DIMWISE_DETAIL_COMPILED_IN(C)                                         \
  template void send_to<C>(walk&, const record<C>&, const record<C>&);        \
  template void send_view<C>(walk&, const record<C>&, const record<C>&);      \
  template void send_gathered<C>(walk&, const record<C>&, const record<C>&);  \
  template void send_scattered<C>(walk&, const record<C>&, const record<C>&); \
  template void send_product<C>(walk&, const record<C>&, const record<C>&);
DIMWISE_DETAIL_COMPILED_IN(float)
DIMWISE_DETAIL_COMPILED_IN(double)
#undef DIMWISE_DETAIL_COMPILED_IN
#endif

}  // namespace dimwise::detail
