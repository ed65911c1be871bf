// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/products_definitions.hpp -- products, with what follows them element by element.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/eval/plan/plan.test.cpp
#pragma once

#include <dimwise/eval/loops/product.hpp>
#include <dimwise/eval/records/walk_definitions.hpp>
#include <dimwise/expr/explain/shapes.hpp>
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/kernels/epilogue.hpp>
#include <dimwise/eval/kernels/product.hpp>
#include <dimwise/eval/records/attention_definitions.hpp>
#endif

namespace dimwise::detail {

// The axis map of a product.
template <class C>
struct product_map {
  short at[4][max_rank];
  product_form form;

  explicit product_map(const record<C>& r) {
    const auto& facts = r.template facts_as<product_facts_of_record>();
    const auto places = [&](short* to, name_list names, const record<C>& operand) {
      for (std::size_t i = 0; i < names.size; ++i) { to[i] = operand.shape->axes.place_of(names.at[i]); }
    };
    for (std::size_t k = 0; k < 2; ++k) {
      places(at[2 * k], facts.result, *r.child[k]);
      places(at[2 * k + 1], facts.sums, *r.child[k]);
    }
    const auto operand = [&](std::size_t k) {
      return product_operand{at[2 * k], at[2 * k + 1], r.child[k]->rank(), r.child[k]->leaves_out};
    };
    form = {operand(0), operand(1), facts.result.size, facts.sums.size};
  }
  product_map(const product_map&) = delete;
  product_map& operator=(const product_map&) = delete;
};

template <class C>
std::string product_words(const record<C>& r) {
  std::vector<std::string> names;
  for (const name_of name : r.template facts_as<product_facts_of_record>().over) {
    names.push_back(short_name(name()));
  }
  return "contract over " + joined_names(names);
}

template <class C>
void write_plain_product(walk& w, const record<C>& r, target<C> to) {
  const product_map<C> map(r);
  const auto a = read_record(w, *r.child[0], true);
  const auto b = read_record(w, *r.child[1], true);
#if !defined(DIMWISE_PLAIN_ONLY)
  if (r.has_kernels) {
    if (w.computes()) { return compute_product(w.cx, map.form, to, a, b); }
    const bool runs = !w.cx.reference_forced() && product_fits(map.form, a.axes, to.axes);
    return note(w, runs ? plan_kind::product : plan_kind::plain, r, [&] { return product_words(r); });
  }
#endif
  note(w, plan_kind::plain, r, [&] { return product_words(r); });
  if (w.computes()) { product_loops(map.form, to, a, b); }
}

#if !defined(DIMWISE_PLAIN_ONLY)

// f(product + bias) + residual: the steps of a chain, outermost first.
struct product_chain_of_records {
  const record<float>* product = nullptr;
  const record<float>* bias = nullptr;
  const record<float>* residual = nullptr;
  kernels::function activation = kernels::function::none;
  product_step last = product_step::product;
};

// The product of a chain, and what follows it, where one of its operands is read as it is stored.
inline bool multiply_stored(walk& w, const record<float>& r, const product_chain_of_records& chain, target<float> to) {
  for (std::size_t k = 2; k-- > 0;) {
    const record<float>& x = *chain.product->child[k];
    if (x.kind() != record_kind::stored) { continue; }
    const stored_weights* const weights = x.facts_as<stored_facts_of_record>().weights;
    if (weights != nullptr && weights->multiply(w, r, chain, k, to)) { return true; }
  }
  return false;
}

template <class C>
bool fused_product(walk& w, const record<C>& r, const attention_of_records<C>* attention, target<C> to) {
  if (!r.has_kernels || w.cx.reference_forced()) { return false; }
  if (attention != nullptr) { return attend(w, r, *attention, to); }
  if constexpr (std::is_same_v<C, float>) {
    return multiply_stored(w, r, {.product = &r}, to);
  } else {
    return false;
  }
}

#endif

template <class C>
void write_product(walk& w, const record<C>& r, target<C> to) {
#if !defined(DIMWISE_PLAIN_ONLY)
  attention_of_records<C> m;
  if (fused_product(w, r, match_attention(r, m) ? &m : nullptr, to)) { return; }
#endif
  write_plain_product(w, r, to);
}

template <class C>
lowered<C> read_product(walk& w, const record<C>& r, bool) {
  lowered<C> buffer = make_buffer(w, r);
#if !defined(DIMWISE_PLAIN_ONLY)
  attention_of_records<C> m;
  const bool is_attention = match_attention(r, m);
  std::size_t order[max_rank];
  if (is_attention && order_context(r, m, order)) {
    std::ptrdiff_t stride = 1;
    for (std::size_t i = r.rank(); i-- > 0;) {
      axis& along = buffer.axes[order[i]];
      along.stride = stride;
      stride = times(stride, along.extent);
    }
  }
  if (fused_product(w, r, is_attention ? &m : nullptr, target_of(buffer))) { return buffer; }
#endif
  write_plain_product(w, r, target_of(buffer));
  return buffer;
}

#if !defined(DIMWISE_PLAIN_ONLY)

// A term added to a chain of this shape: as large as the product, or a bias of some of its dimensions.
inline bool adds_to_chain(const product_chain_of_records& chain, const record_shape& shape, const record<float>& x) {
  if (!x.is_float || x.shape->masked || x.leaves_out == kernels::left_out::hidden) { return false; }
  if (!is_subset_of(x.shape->axes, shape.axes)) { return false; }
  return x.rank() == shape.axes.size ? chain.last < product_step::residual
                                     : x.rank() > 0 && chain.last < product_step::bias;
}

// Whether a record is such a chain.
inline bool match_product_chain(const record<float>& r, product_chain_of_records& chain) {
  if (!r.is_float) { return false; }
  if (r.kind() == record_kind::product) {
    chain.product = &r;
    attention_of_records<float> m;
    return r.child[0]->is_float && r.child[1]->is_float && !match_attention(r, m);
  }
  if (r.kind() == record_kind::unary) {
    const auto f = static_cast<kernels::function>(r.index);
    if (!kernels::is_activation(f) || !match_product_chain(*r.child[0], chain) ||
        chain.last >= product_step::activation) {
      return false;
    }
    chain.activation = f;
    chain.last = product_step::activation;
    return true;
  }
  if (r.operation != &records::binary<float> || static_cast<kernels::operation>(r.index) != kernels::operation::add) {
    return false;
  }
  for (std::size_t k = 0; k < 2; ++k) {
    product_chain_of_records inner;
    const record<float>& x = *r.child[1 - k];
    if (match_product_chain(*r.child[k], inner) && adds_to_chain(inner, *r.child[k]->shape, x)) {
      chain = inner;
      const bool is_residual = x.rank() == r.child[k]->rank();
      (is_residual ? chain.residual : chain.bias) = &x;
      chain.last = is_residual ? product_step::residual : product_step::bias;
      return true;
    }
  }
  return false;
}

// The axes of the product within a chain, and where the chain's result has their elements.
inline void write_product_axes(const record<float>& product, const record<float>& r, const target<float>& whole,
                               axis* to) {
  product.write_extents(to);
  std::ptrdiff_t strides[max_rank] = {};
  align_names(product.shape->axes, r.shape->axes, whole.axes, strides);
  for (std::size_t i = 0; i < product.rank(); ++i) { to[i].stride = strides[i]; }
}
inline chain_steps read_steps(walk& w, const product_chain_of_records& chain) {
  chain_steps steps;
  steps.activation = chain.activation;
  const auto take = [&](const record<float>* x, lowered<float>& elements, std::ptrdiff_t* along, bool& has) {
    if (x == nullptr) { return; }
    elements = read_record(w, *x);
    align_names(chain.product->shape->axes, x->shape->axes, elements.axes, along);
    has = true;
  };
  take(chain.bias, steps.bias, steps.bias_strides, steps.has_bias);
  take(chain.residual, steps.residual, steps.residual_strides, steps.has_residual);
  return steps;
}

// A strategy. It gives up where a product is too small, or where a hidden value may have spoiled it.
inline bool product_and_finish(walk& w, const record<float>& r, target<float> whole) {
  product_chain_of_records chain;
  if (!match_product_chain(r, chain) || chain.last == product_step::product) { return false; }
  if (multiply_stored(w, r, chain, whole)) { return true; }
  const record<float>& product = *chain.product;
  const product_map<float> map(product);
  axis to[max_rank];
  write_product_axes(product, r, whole, to);
  axis summed[max_rank];
  product.child[0]->write_extents(summed);
  if (plain_work(map.form, summed, to) < least_product) { return false; }
  const auto a = read_record(w, *product.child[0], true);
  const auto b = read_record(w, *product.child[1], true);
  const chain_steps steps = read_steps(w, chain);
  note(w, plan_kind::product, r, [&] { return product_words(product) + steps.in_words(); });
  return !w.computes() || multiply_and_finish(w.cx, map.form, {whole.data, to}, a, b, steps);
}

#endif

#if DIMWISE_DETAIL_HAS_LIBRARY
template lowered<float> read_product<float>(walk&, const record<float>&, bool);
template lowered<double> read_product<double>(walk&, const record<double>&, bool);
#endif
DIMWISE_DETAIL_COMPILED(write_product)

}  // namespace dimwise::detail
