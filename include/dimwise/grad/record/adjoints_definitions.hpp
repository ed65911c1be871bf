// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/adjoints_definitions.hpp -- from the gradient of a value to those of its operands.
//
// Layer: grad. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/operations/
#pragma once

#include <dimwise/grad/record/adjoints.hpp>
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
    names_beside sums;
    sums.add(arrived.shape.axes, x.shape->axes);
    const product_facts_of_record of_back{x.shape->axes, sums.list(), {nullptr, 0}};
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
  [[nodiscard]] named_memory memory() {
    named_memory all{const_cast<C*>(elements.data), {}, this->shape.axes};
    for (std::size_t i = 0; i < this->shape.axes.size; ++i) { all.axes[i] = elements.axes[i]; }
    return all;
  }
  void send(walk& w, const record<C>& x) {
    send_to(w, x, this->r);
    zeros = {};
  }
};
template <class C>
bool send_attention(walk& w, const record<C>& r, const attention_back& arrived) {
  attention_of_records<float> m;
  const record<C>* bias = nullptr;
  if (!match_attention(r, m) || !tracks_roles_alone(m, bias)) { return false; }
  zero_gradient_of<C> d_q(*m.query);
  zero_gradient_of<C> d_k(*m.key);
  zero_gradient_of<C> d_v(*m.values);
  std::optional<zero_gradient_of<C>> d_bias;
  attention_back back = arrived;
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

// ---- elements -------------------------------------------------------------------------------------------------------

template <class C>
void send_unary(walk& w, const record<C>& r, const record<C>& g) {
  const record<C>& x = *r.child[0];
  const plain_value_of<C> value(x);
  adjoint_record<C> back(records::chained<C>, g);
  back.r.index = r.index;
  back.r.child[0] = &g;
  back.r.child[1] = value.value;
  send_to(w, x, back.r);
}

// f(g, y) to x.
template <class C>
void send_zipped(walk& w, kernels::operation f, const record<C>& x, const record<C>& g, const record<C>& y) {
  if (x.send == nullptr) { return; }
  const plain_value_of<C> value(y);
  adjoint_record<C> back(records::binary<C>, g);
  back.r.index = static_cast<std::ptrdiff_t>(f);
  back.r.child[0] = &g;
  back.r.child[1] = value.value;
  send_reduced(w, x, back.r);
}
template <class C>
void send_partial(walk& w, const record<C>& r, const record<C>& g, std::size_t k) {
  const record<C>& x = *r.child[k];
  if (x.send == nullptr) { return; }
  adjoint_record<C> back(records::partial<C>, g);
  back.r.node = &r;
  back.r.index = static_cast<std::ptrdiff_t>(k);
  back.r.child[0] = &g;
  send_reduced(w, x, back.r);
}

template <class C>
void send_binary(walk& w, const record<C>& r, const record<C>& arrived) {
  const record<C>& a = *r.child[0];
  const record<C>& b = *r.child[1];
  const gradient_of_several<C> once(w, arrived, {&a, &b});
  const record<C>& g = once.g;
  switch (static_cast<kernels::operation>(r.index)) {
    case kernels::operation::add:
      send_reduced(w, a, g);
      return send_reduced(w, b, g);
    case kernels::operation::subtract: {
      send_reduced(w, a, g);
      adjoint_record<C> negated(records::unary<C>, g);
      negated.r.index = static_cast<std::ptrdiff_t>(kernels::function::negate);
      negated.r.child[0] = &g;
      return send_reduced(w, b, negated.r);
    }
    case kernels::operation::multiply:
      send_zipped(w, kernels::operation::send_times, a, g, b);
      return send_zipped(w, kernels::operation::send_times, b, g, a);
    case kernels::operation::divide:
      send_zipped(w, kernels::operation::send_divided, a, g, b);
      return send_partial(w, r, g, 1);
    case kernels::operation::max:
    case kernels::operation::min:
      send_partial(w, r, g, 0);
      return send_partial(w, r, g, 1);
    case kernels::operation::hide:
    case kernels::operation::send_times:
    case kernels::operation::send_divided:
      break;  // of adjoints alone
  }
}
#pragma GCC diagnostic pop

template <class C>
void send_partials(walk& w, const record<C>& r, const record<C>& g) {
  const bool clamps = r.operation == &records::clamped<C>;
  const gradient_of_several<C> once(w, g, {r.child[0], r.child[1], clamps ? r.child[2] : nullptr});
  for (std::size_t k = 0; k < (clamps ? 3U : 2U); ++k) { send_partial(w, r, once.g, k); }
}

// `g` where the condition, or the mask, of `r` takes operand `k`; `number` elsewhere.
template <class C>
void send_where(walk& w, const record<C>& r, const record<C>& g, std::size_t k, double number) {
  if (r.child[k]->send == nullptr) { return; }
  adjoint_record<C> back(records::chosen<C>, g);
  back.r.mask_facts = r.mask_facts;
  back.r.mask = r.mask;
  back.r.node_extents = r.node_extents;
  back.r.number = number;
  back.r.child[k] = &g;
  send_reduced(w, *r.child[k], back.r);
}
template <class C>
void send_chosen(walk& w, const record<C>& r, const record<C>& g) {
  const gradient_of_several<C> once(w, g, {r.child[0], r.child[1]});
  send_where(w, r, once.g, 0, 0);
  send_where(w, r, once.g, 1, 0);
}
// What is hidden gets −0, which a product leaves out.
template <class C>
void send_masked(walk& w, const record<C>& r, const record<C>& g) {
  send_where(w, r, g, 0, -0.0);
}
template <class C>
void send_biased(walk& w, const record<C>& r, const record<C>& g) {
  const gradient_of_several<C> once(w, g, {r.child[0], r.child[1]});
  send_reduced(w, *r.child[0], once.g);
  send_reduced(w, *r.child[1], once.g);
}

// ---- rows and totals ------------------------------------------------------------------------------------------------

template <class C, class How>
void send_rows(walk& w, const record<C>& r, const record<C>& g) {
  const record<C>& x = *r.child[0];
  adjoint_record<C> back(records::rows_back<C, How>, x);
  back.r.facts = r.facts;
  back.r.number = r.number;
  back.r.child[0] = &g;
  if constexpr (How::backward == backward_reads::result) {
    const record_in_memory<C> row(w, r);
    back.r.child[1] = &row.r;
    send_to(w, x, back.r);
  } else {
    static_assert(How::backward == backward_reads::operand);
    const plain_value_of<C> row(x);
    back.r.child[1] = row.value;
    send_to(w, x, back.r);
  }
}

template <class C>
void send_repeated(walk& w, const record<C>& x, const record<C>& g) {
  static constexpr view_facts of_broadcast{view_kind::broadcast};
  adjoint_record<C> back(records::view<C>, x);
  back.r.facts = &of_broadcast;
  back.r.index = 0;
  back.r.child[0] = &g;
  send_to(w, x, back.r);
}
template <class C>
double elements_over(const record<C>& x, name_list over) {
  axis extents[max_rank] = {};
  x.write_extents(extents);
  double count = 1;
  for (const name_of name : over) { count *= static_cast<double>(extents[x.shape->axes.place_of(name)].extent); }
  return count;
}
template <class C, class How>
void send_total(walk& w, const record<C>& r, const record<C>& g) {
  const record<C>& x = *r.child[0];
  const auto& over = r.template facts_as<name_list>();
  const plain_value_of<C> value(x);
  if constexpr (std::is_same_v<How, totals::logsumexp>) {  // g · softmax(x)
    adjoint_record<C> weights(records::rows<C, rows::softmax>, x);
    weights.r.facts = r.facts;
    weights.r.number = 0;
    weights.r.child[0] = value.value;
    adjoint_record<C> back(records::binary<C>, x);
    back.r.index = static_cast<std::ptrdiff_t>(kernels::operation::send_times);
    back.r.child[0] = &g;
    back.r.child[1] = &weights.r;
    return send_to(w, x, back.r);
  } else {
    if (!x.shape->masked) {
      if constexpr (std::is_same_v<How, totals::sum>) { return send_repeated(w, x, g); }
      if constexpr (std::is_same_v<How, totals::mean>) {
        const double count = elements_over(x, over);
        const double factor = count == 0 ? 0.0 : 1.0 / count;
        if (g.rank() == 0) {  // of one number
          const record_of_number<C> each(static_cast<double>(*read_record(w, g).data) * factor);
          return send_repeated(w, x, each.r);
        }
        const record_of_number<C> share(factor);
        adjoint_record<C> each(records::binary<C>, g);
        each.r.index = static_cast<std::ptrdiff_t>(kernels::operation::multiply);
        each.r.child[0] = &g;
        each.r.child[1] = &share.r;
        return send_repeated(w, x, each.r);
      }
    }
    adjoint_record<C> back(records::total_back<C, How>, x);
    back.r.facts = r.facts;
    back.r.index = x.shape->masked;
    back.r.child[0] = &g;
    back.r.child[1] = value.value;
    send_to(w, x, back.r);
  }
}

#if DIMWISE_DETAIL_HAS_LIBRARY
#if !defined(DIMWISE_PLAIN_ONLY)
template bool send_attention<float>(walk&, const record<float>&, const attention_back&);
#endif
#define DIMWISE_DETAIL_COMPILED_IN(C)                                        \
  template void send_to<C>(walk&, const record<C>&, const record<C>&);       \
  template void send_view<C>(walk&, const record<C>&, const record<C>&);     \
  template void send_product<C>(walk&, const record<C>&, const record<C>&);  \
  template void send_unary<C>(walk&, const record<C>&, const record<C>&);    \
  template void send_binary<C>(walk&, const record<C>&, const record<C>&);   \
  template void send_partials<C>(walk&, const record<C>&, const record<C>&); \
  template void send_chosen<C>(walk&, const record<C>&, const record<C>&);   \
  template void send_masked<C>(walk&, const record<C>&, const record<C>&);   \
  template void send_biased<C>(walk&, const record<C>&, const record<C>&);
DIMWISE_DETAIL_COMPILED_IN(float)
DIMWISE_DETAIL_COMPILED_IN(double)
#undef DIMWISE_DETAIL_COMPILED_IN
#define DIMWISE_DETAIL_COMPILED_OF(function, How)                                        \
  template void function<float, How>(walk&, const record<float>&, const record<float>&); \
  template void function<double, How>(walk&, const record<double>&, const record<double>&);
#define DIMWISE_DETAIL_COMPILED_none(function, How)
#define DIMWISE_DETAIL_COMPILED_formula(function, How) DIMWISE_DETAIL_COMPILED_OF(function, How)
#define DIMWISE_DETAIL_COMPILED_operand(function, How) DIMWISE_DETAIL_COMPILED_OF(function, How)
#define DIMWISE_DETAIL_COMPILED_result(function, How) DIMWISE_DETAIL_COMPILED_OF(function, How)
#define DIMWISE_DETAIL_COMPILED_ROW(word, text, reads) DIMWISE_DETAIL_COMPILED_##reads(send_rows, rows::word)
#define DIMWISE_DETAIL_COMPILED_TOTAL(word, text, reads) DIMWISE_DETAIL_COMPILED_##reads(send_total, totals::word)
DIMWISE_DETAIL_ROWS(DIMWISE_DETAIL_COMPILED_ROW)
DIMWISE_DETAIL_COMPILED_OF(send_rows, rows::sort<false>)
DIMWISE_DETAIL_COMPILED_OF(send_rows, rows::sort<true>)
DIMWISE_DETAIL_TOTALS(DIMWISE_DETAIL_COMPILED_TOTAL)
#undef DIMWISE_DETAIL_COMPILED_TOTAL
#undef DIMWISE_DETAIL_COMPILED_ROW
#undef DIMWISE_DETAIL_COMPILED_result
#undef DIMWISE_DETAIL_COMPILED_operand
#undef DIMWISE_DETAIL_COMPILED_formula
#undef DIMWISE_DETAIL_COMPILED_none
#undef DIMWISE_DETAIL_COMPILED_OF
#endif

}  // namespace dimwise::detail
