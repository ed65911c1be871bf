// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/record/adjoints_of_elements_definitions.hpp -- the adjoints of what goes over elements, of rows, totals
// and losses.
//
// Layer: grad. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/grad/operations/
#pragma once

#include <dimwise/eval/kernels/loss_definitions.hpp>
#include <dimwise/grad/record/adjoint_records_definitions.hpp>
#include <dimwise/grad/record/adjoints.hpp>

namespace dimwise::detail {

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

// A kind that is not handled does not compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
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

// ---- losses ---------------------------------------------------------------------------------------------------------

template <class C>
void send_cross_entropy(walk& w, const record<C>& r, const record<C>& g) {
  const record<C>& x = *r.child[0];
  const plain_value_of<C> logits(x);
  adjoint_record<C> back(records::cross_entropy_back<C>, x);
  back.r.node = &r;
  back.r.child[0] = &g;
  back.r.child[1] = logits.value;
  send_to(w, x, back.r);
}

#if DIMWISE_DETAIL_HAS_LIBRARY
#define DIMWISE_DETAIL_COMPILED_IN(C)                                        \
  template void send_unary<C>(walk&, const record<C>&, const record<C>&);    \
  template void send_binary<C>(walk&, const record<C>&, const record<C>&);   \
  template void send_partials<C>(walk&, const record<C>&, const record<C>&); \
  template void send_chosen<C>(walk&, const record<C>&, const record<C>&);   \
  template void send_masked<C>(walk&, const record<C>&, const record<C>&);   \
  template void send_biased<C>(walk&, const record<C>&, const record<C>&);   \
  template void send_cross_entropy<C>(walk&, const record<C>&, const record<C>&);
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
