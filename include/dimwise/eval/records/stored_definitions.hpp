// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/records/stored_definitions.hpp -- products with weights that are stored in few bits, read in these
// bits.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp). x · widened(w),
// rounded<bfloat16>(x) · widened(w), and quantised<I…>(x) · dequantised(w, scale) with what follows them: the formula
// says what is rounded, the kernel rounds where it reads. Weights with another layout are widened and multiplied as
// floats.
// Tests: tests/eval/plan/quantised.test.cpp
#pragma once

#include <dimwise/eval/records/products_definitions.hpp>
#include <dimwise/eval/records/stored.hpp>
#include <dimwise/kernels/dispatch/active_quantised.hpp>

namespace dimwise::detail {

inline bool are_same(name_list a, name_list b) {
  bool same = a.size == b.size;
  for (std::size_t i = 0; same && i < a.size; ++i) { same = a.at[i] == b.at[i]; }
  return same;
}

// Axes of K operands as one loop where each continues the one outside it.
template <std::size_t K>
struct one_loop {
  bool fits;
  std::size_t extent = 1;
  std::ptrdiff_t stride[K] = {};

  explicit one_loop(const kernels::loop_nest<K>& nest) : fits(nest.rank <= 1) {
    if (nest.rank != 1) { return; }
    extent = nest.extent[0];
    for (std::size_t k = 0; k < K; ++k) { stride[k] = nest.stride[k][0]; }
  }
};
// The axes of these names.
inline void take_axes(name_list names, name_list from, const axis* axes, axis* to) {
  for (std::size_t i = 0; i < names.size; ++i) { to[i] = axes[from.place_of(names.at[i])]; }
}
inline one_loop<1> loop_along(name_list names, name_list from, const axis* axes) {
  axis along[max_rank];
  take_axes(names, from, axes, along);
  kernels::loop_nest<1> nest;
  for (std::size_t i = 0; i < names.size; ++i) { nest.add(along[i].extent, {along[i].stride}); }
  return one_loop<1>(nest);
}

// The operand of the weights, and its conversion by the kernel. Null: no kernel takes it.
inline const record<float>* quantised_inputs(const record<float>& x, const stored_weights& weights,
                                             const product_facts_of_record& facts, kernels::product_inputs& kind) {
  if (weights.along != nullptr) {
    kind = kernels::product_inputs::int8;
    const bool fits = x.kind() == record_kind::quantised && are_same(x.facts_as<name_list>(), *weights.along) &&
                      facts.sums.size == weights.along->size && is_subset_of(facts.sums, *weights.along);
    return fits ? x.child[0] : nullptr;
  }
  if (x.kind() == record_kind::rounded && x.index == rounded_to_bfloat16) {
    kind = kernels::product_inputs::bfloat16;
    return weights.format == kernels::number_format::bfloat16 ? x.child[0] : nullptr;
  }
  kind = kernels::product_inputs::float32;
  return x.kind() == record_kind::quantised ? nullptr : &x;
}

// A product with weights as they are stored: its axes by what they are to it. `sums` have the order of a row of
// weights.
struct quantised_product {
  const record<float>& product;
  const record<float>& weights;
  const record<float>& inputs;
  const stored_weights& stored;
  name_list result;  // as the operands call its axes
  axis_names sums;
  axis_names rows;
  axis_names columns;

  quantised_product(const record<float>& p, std::size_t place, const record<float>& x)
      : product(p),
        weights(*p.child[place]),
        inputs(x),
        stored(*weights.facts_as<stored_facts_of_record>().weights),
        result(p.facts_as<product_facts_of_record>().result),
        sums(weights.shape->axes, p.facts_as<product_facts_of_record>().sums, true),
        rows(x.shape->axes, sums.names(), false),
        columns(result, rows.names(), false) {}

  // Rows of neighbours, a step apart, that are neighbours in the result.
  [[nodiscard]] bool take_weights(kernels::quantised_product_call& call, const stored_elements& numbers,
                                  const axis* to) const {
    const name_list names = weights.shape->axes;
    axis at[max_rank];
    weights.write_extents(at);
    for (std::size_t i = 0; i < names.size; ++i) { at[i].stride = numbers.layout.axes[i].stride; }
    if (stored.packed != nullptr) {
      // Of pairs, strides count numbers: the bytes of the packed dimension have its place.
      const auto packed = static_cast<std::size_t>(names.place_of(stored.packed));
      if (at[packed].stride != 1) { return false; }
      for (std::size_t i = 0; i < names.size; ++i) { at[i].stride *= i == packed ? 1 : 2; }
    }
    if (stored.along != nullptr && !are_same(sums.names(), *stored.along)) { return false; }
    const one_loop<1> k = loop_along(sums.names(), names, at);
    axis of_result[max_rank];
    take_axes(columns.names(), result, to, of_result);
    const one_loop<2> n(nest_by_names<1>(columns.names(), of_result, {names}, {at}));
    if (!k.fits || !n.fits || (k.extent > 1 && k.stride[0] != 1) || (n.extent > 1 && n.stride[0] != 1)) {
      return false;
    }
    call.k = k.extent;
    call.n = n.extent;
    call.b = numbers.data;
    call.b_row = n.stride[1] * static_cast<std::ptrdiff_t>(stored.bytes);
    if (stored.format == kernels::number_format::int4) {
      if (n.stride[1] % 2 != 0) { return false; }
      call.b_row /= 2;
    }
    return true;
  }
  // The inputs as floats whose sums are neighbours, in the order of the weights.
  [[nodiscard]] lowered<float> read_inputs(walk& w) const {
    const name_list names = inputs.shape->axes;
    auto x = read_record(w, inputs);
    const one_loop<1> k = loop_along(sums.names(), names, x.axes);
    if (k.fits && (k.extent == 1 || k.stride[0] == 1)) { return x; }
    axis dense[max_rank];
    take_axes(rows.names(), names, x.axes, dense);
    take_axes(sums.names(), names, x.axes, dense + rows.size);
    make_contiguous(dense, names.size);
    lowered<float> copy;
    for (std::size_t i = 0; i < names.size; ++i) {
      const short row = rows.names().place_of(names.at[i]);
      copy.axes[i] =
          row >= 0 ? dense[row] : dense[rows.size + static_cast<std::size_t>(sums.names().place_of(names.at[i]))];
    }
    if (w.computes()) {
      copy.buffer.resize(checked_size_of(copy.axes, names.size, names.at, sizeof(float), "evaluate"));
      copy.data = copy.buffer.data();
      copy_axes<float>(names.size, copy.axes, copy.axes, x.axes, copy.buffer.data(), x.data);
    }
    return copy;
  }
};

template <class C>
void run_quantised(context& cx, kernels::quantised_product_call call, const quantised_product& p,
                   const lowered<float>& x, const chain_steps& steps, target<C> to) {
  if (call.n == 0) { return; }
  const std::size_t rank = p.result.size;
  short places[max_rank]{};
  for (std::size_t i = 0; i < rank; ++i) { places[i] = p.rows.names().place_of(p.result.at[i]); }
  const bool bias_fits = !steps.has_bias || is_row_of(rank, to.axes, steps.bias_strides, call.n, places);
  const bool residual_fits = !steps.has_residual || lies_like(rank, to.axes, steps.residual_strides);
  const bool at_once = bias_fits && residual_fits;
  if (at_once) {
    call.epilogue.column_bias = steps.bias.data;
    call.epilogue.activation = steps.activation;
    call.epilogue.residual = steps.has_residual;
  }
  axis rows[max_rank];
  take_axes(p.rows.names(), p.result, to.axes, rows);
  const kernels::quantised_table& table = kernels::active_quantised();
  kernels::for_each_row(nest_by_names<1>(p.rows.names(), rows, {p.inputs.shape->axes}, {x.axes}),
                        [&](const std::ptrdiff_t(&o)[2], std::size_t m, const std::ptrdiff_t(&s)[2]) {
    call.m = m;
    call.c = to.data + o[0];
    call.c_row = call.residual_row = s[0];
    call.a = x.data + o[1];
    call.a_row = s[1];
    call.residual = steps.has_residual ? steps.residual.data + o[0] : nullptr;
    const auto memory = scratch(table.product_bytes(call, cx.runner().worker_count()));
    table.product(call, const_cast<unsigned char*>(memory.data()), cx.runner());
  });
  if (!at_once) { finish_apart(rank, steps, to); }
}

template <class C>
bool multiply_quantised(walk& w, const record<C>& r, const product_chain_of_records& chain, std::size_t place,
                        target<C> whole) {
  const record<float>& product = *chain.product;
  const auto& facts = product.facts_as<product_facts_of_record>();
  const record<float>& x = *product.child[1 - place];
  const record<float>& weights = *product.child[place];
  kernels::quantised_product_call call;
  const record<float>* const inputs =
      quantised_inputs(x, *weights.facts_as<stored_facts_of_record>().weights, facts, call.inputs);
  if (inputs == nullptr || !inputs->is_float || x.leaves_out == kernels::left_out::hidden) { return false; }
  for (const name_of name : x.shape->axes) {  // a list of products
    if (facts.sums.place_of(name) < 0 && weights.shape->axes.place_of(name) >= 0) { return false; }
  }
  const quantised_product p(product, place, *inputs);
  call.format = p.stored.format;
  axis to[max_rank];
  write_product_axes(product, r, whole, to);
  stored_elements numbers;
  stored_elements scales;
  p.stored.read(w, weights.node, numbers, scales);
  if (!p.take_weights(call, numbers, to)) { return false; }
  if (p.stored.along != nullptr) {
    // Their axes are those of the weights beside the row, then the blocks.
    const std::size_t rank = weights.rank() - p.stored.along->size + 1;
    const axis* const along = scales.layout.axes;
    if (along[rank - 1].stride != 1 || !follow_each_other(along, rank)) { return false; }
    call.scales = static_cast<const float16*>(scales.data);
    call.scales_row = rank > 1 ? along[rank - 2].stride : 0;
  }
  const auto a = p.read_inputs(w);
  const chain_steps steps = read_steps(w, chain);
  note(w, plan_kind::product, r, [&] { return product_words(product) + " with quantised weights" + steps.in_words(); });
  if (!w.computes()) { return true; }
  run_quantised<C>(w.cx, call, p, a, steps, {whole.data, to});
  // As of other products of gradients (`may_be_spoiled`).
  return inputs->leaves_out != kernels::left_out::zeros || all_finite(product.rank(), to, whole.data);
}

}  // namespace dimwise::detail
