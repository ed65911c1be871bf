// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/quantised.hpp -- products with weights that are stored in few bits, read in these bits.
//
// Layer: eval. x · widened(w), rounded<bfloat16>(x) · widened(w), and quantised<I…>(x) · dequantised(w, scale) with
// what follows them: the nodes say what is rounded, the kernel rounds where it reads. What has another layout is
// widened and multiplied as floats.
// Tests: tests/eval/plan/quantised.test.cpp
#pragma once

#include <dimwise/eval/attention/match.hpp>
#include <dimwise/eval/kernels/epilogue.hpp>
#include <dimwise/expr/elements/rounding.hpp>
#include <dimwise/kernels/dispatch/active_quantised.hpp>

namespace dimwise::detail {

// Weights in memory that are read in the bits that they are stored in.
template <class W>
struct quantised_weights {
  static constexpr bool matches = false;
};
template <class Shape, class X>
  requires(in_memory<X>)
struct quantised_weights<widened_node<Shape, nothing, X>> {
  static constexpr bool matches = true;
  static constexpr bool in_blocks = false;
  static constexpr kernels::number_format format = format_of<value_of<X>>;
};
template <class Shape, class Packed, class Along, class X, class Scale>
  requires(in_memory<X> && in_memory<Scale> && std::is_same_v<value_of<Scale>, float16>)
struct quantised_weights<widened_blocks_node<Shape, Packed, Along, X, Scale>> {
  static constexpr bool matches = true;
  static constexpr bool in_blocks = true;
  static constexpr kernels::number_format format = format_of<value_of<X>>;
  using packed = Packed;
  using along = Along;
  // Rows of numbers and of scales in one order.
  using scale_axes = axes_for<shape_of<Scale>>;
  static constexpr bool same_rows = std::is_same_v<
      join_t<difference_t<axes_for<Shape>, axes_of_list_t<Along>>, list<typename scaled_blocks<Scale>::dimension>>,
      scale_axes>;
};

// What is multiplied with them: the operand, and what the kernel makes of its numbers.
template <class X>
struct quantised_inputs {
  static constexpr kernels::product_inputs kind = kernels::product_inputs::float32;
  using type = X;
  static const X& of(const X& x) { return x; }
};
template <class X>
struct rounded_inputs {
  using type = child_t<X>;
  static const type& of(const X& x) { return x.template child<0>(); }
};
template <class Shape, class E>
struct quantised_inputs<elementwise<Shape, float, fn::rounded<bfloat16>, E>>
    : rounded_inputs<elementwise<Shape, float, fn::rounded<bfloat16>, E>> {
  static constexpr kernels::product_inputs kind = kernels::product_inputs::bfloat16;
};
template <class Shape, class Over, class E>
struct quantised_inputs<rowwise<Shape, rows::quantised, Over, E>>
    : rounded_inputs<rowwise<Shape, rows::quantised, Over, E>> {
  static constexpr kernels::product_inputs kind = kernels::product_inputs::int8;
  using over = Over;
};

// Which operand of a product holds such weights: 0, 1, or 2 where none does that a kernel takes.
template <class Over, class X, class W>
consteval bool has_quantised_kernel() {
  using inputs = quantised_inputs<X>;
  using weights = quantised_weights<W>;
  if constexpr (!weights::matches) {
    return false;
  } else if constexpr (!std::is_same_v<value_of<typename inputs::type>, float> || gives_hidden_weights<X>) {
    return false;
  } else if constexpr (!is_disjoint<difference_t<axes_for<shape_of<X>>, axes_of_list_t<Over>>, axes_for<shape_of<W>>>) {
    return false;  // a list of products
  } else if constexpr (weights::in_blocks) {
    if constexpr (inputs::kind == kernels::product_inputs::int8) {
      return std::is_same_v<typename inputs::over, typename weights::along> && weights::same_rows &&
             same_set<Over, typename weights::along>;
    } else {
      return false;
    }
  } else {
    return inputs::kind == kernels::product_inputs::float32 ||
           (inputs::kind == kernels::product_inputs::bfloat16 && weights::format == kernels::number_format::bfloat16);
  }
}
template <class N>
inline constexpr std::size_t quantised_place = 2;
template <class Shape, class Over, class A, class B>
inline constexpr std::size_t quantised_place<contraction<Shape, Over, A, B>> = has_quantised_kernel<Over, A, B>()   ? 1
                                                                               : has_quantised_kernel<Over, B, A>() ? 0
                                                                                                                    : 2;

// Axes of one operand or of two, as one loop where each continues the one outside it.
struct one_loop {
  bool fits;
  std::size_t extent = 1;
  std::ptrdiff_t stride[2] = {0, 0};
};
template <std::size_t K>
one_loop in_one_loop(const kernels::loop_nest<K>& nest) {
  one_loop all{nest.rank <= 1};
  if (nest.rank == 1) {
    all.extent = nest.extent[0];
    for (std::size_t k = 0; k < K; ++k) { all.stride[k] = nest.stride[k][0]; }
  }
  return all;
}
template <class Axes, class Operand>
kernels::loop_nest<1> nest_along(const axis* operand) {
  axis extents[max_rank];
  std::ptrdiff_t strides[1][max_rank] = {};
  align<Axes, Operand>(operand, strides[0]);
  for (std::size_t i = 0; i < Axes::size; ++i) { extents[i].extent = operand[places<Axes, Operand>::at[i]].extent; }
  return nest_over(Axes::size, extents, strides);
}

// A strategy: the product and what follows it.
template <class N>
consteval bool is_quantised_chain() {
  if constexpr (product_chain<N>::matches) {
    using product = typename product_chain<N>::product;
    if constexpr (quantised_place<product> < 2) {
      return !attention_match<product>::matches;
    } else {
      return false;
    }
  } else {
    return false;
  }
}
template <class N>
struct quantised_and_finish {
  static constexpr bool matches = false;
};
template <class N>
  requires(is_quantised_chain<N>())
struct quantised_and_finish<N> {
  static constexpr bool matches = true;

  template <class Pass>
  static bool run(Pass& pass, const N& n, target<float> whole) {
    const product& p = chain::find(n);
    const weights_node& w = p.template child<place>();
    kernels::quantised_product_call call;
    call.inputs = inputs::kind;
    call.format = weights::format;
    axis to[max_rank];
    write_product_axes<axes, N>(p, whole, to);

    const auto numbers = read<float>(pass, w.template child<0>());
    [[maybe_unused]] const auto scales = scales_of(pass, w);
    if (!take_weights(call, w, numbers, to)) { return false; }
    if constexpr (weights::in_blocks) {
      constexpr std::size_t rank = weights::scale_axes::size;
      if (scales.axes[rank - 1].stride != 1 || !follow_each_other(scales.axes, rank)) { return false; }
      call.scales = scales.data;
      call.scales_row = rank > 1 ? scales.axes[rank - 2].stride : 0;
    }
    const auto x = rows_of(pass, inputs::of(p.template child<1 - place>()));
    chain_pieces<axes, Pass> pieces(pass);
    chain::collect(n, pieces);
    pass.note(plan_kind::product, n,
              [&] { return operation_in_words<product>() + " with quantised weights" + pieces.in_words(); });
    if constexpr (Pass::computes) {
      compute(pass.cx, call, x, pieces, to, whole.data);
      // As of other products of gradients (`may_be_spoiled`).
      if constexpr (leaves_out<input> == kernels::left_out::zeros) { return all_finite(axes::size, to, whole.data); }
    }
    return true;
  }

 private:
  using chain = product_chain<N>;
  using product = typename chain::product;
  static constexpr std::size_t place = quantised_place<product>;
  using weights_node = element_t<place, children_t<product>>;
  using weights = quantised_weights<weights_node>;
  using inputs = quantised_inputs<element_t<1 - place, children_t<product>>>;
  using input = typename inputs::type;
  using axes = axes_for<shape_of<product>>;
  using x_axes = axes_for<shape_of<input>>;
  using w_axes = axes_for<shape_of<weights_node>>;
  template <class Weights>
  struct order_of_sums {
    using type = axes_of_list_t<typename operation_of<product>::over>;
  };
  template <class Weights>
    requires(Weights::in_blocks)
  struct order_of_sums<Weights> {
    using type = axes_of_list_t<typename Weights::along>;
  };
  // In the order of a row of weights, where the operation's is another one.
  using sums = intersection_t<w_axes, typename order_of_sums<weights>::type>;
  using row_axes = difference_t<x_axes, sums>;
  using column_axes = difference_t<axes, row_axes>;

  template <class Pass>
  static auto scales_of(Pass& pass, const weights_node& w) {
    if constexpr (weights::in_blocks) {
      return read<float>(pass, w.template child<1>());
    } else {
      return nothing{};
    }
  }
  // Rows of neighbours, a step apart, that are neighbours in the result.
  template <class Numbers>
  static bool take_weights(kernels::quantised_product_call& call, const weights_node& w, const Numbers& numbers,
                           const axis* to) {
    axis stored[max_rank];
    axis_extents<w_axes>::write(w.extents(), stored);
    std::ptrdiff_t unit = static_cast<std::ptrdiff_t>(sizeof(*numbers.data));
    for (std::size_t i = 0; i < w_axes::size; ++i) { stored[i].stride = numbers.axes[i].stride; }
    if constexpr (weights::in_blocks) {
      // Of pairs, strides count numbers: the bytes of the packed dimension have its place.
      if constexpr (!std::is_same_v<typename weights::packed, nothing>) {
        constexpr std::size_t packed = index_in<typename weights::packed, w_axes>;
        if (numbers.axes[packed].stride != 1) { return false; }
        for (std::size_t i = 0; i < w_axes::size; ++i) { stored[i].stride *= i == packed ? 1 : 2; }
      }
      if (!std::is_same_v<sums, typename order_of_sums<weights>::type>) { return false; }
    }
    const one_loop k = in_one_loop(nest_along<sums, w_axes>(stored));
    axis columns[max_rank];
    std::ptrdiff_t strides[2][max_rank] = {};
    for (std::size_t i = 0; i < column_axes::size; ++i) { columns[i] = to[places<column_axes, axes>::at[i]]; }
    for (std::size_t i = 0; i < column_axes::size; ++i) { strides[0][i] = columns[i].stride; }
    align<column_axes, w_axes>(stored, strides[1]);
    const one_loop n = in_one_loop(nest_over(column_axes::size, columns, strides));
    if (!k.fits || !n.fits || (k.extent > 1 && k.stride[0] != 1) || (n.extent > 1 && n.stride[0] != 1)) {
      return false;
    }
    call.k = k.extent;
    call.n = n.extent;
    call.b = numbers.data;
    call.b_row = n.stride[1] * unit;
    if constexpr (weights::format == kernels::number_format::int4) {
      if (n.stride[1] % 2 != 0) { return false; }
      call.b_row /= 2;
    }
    return true;
  }
  // The inputs as floats whose sums are neighbours, in the order of the weights.
  template <class Pass>
  static lowered<float> rows_of(Pass& pass, const input& n) {
    auto x = read<float>(pass, n);
    const one_loop k = in_one_loop(nest_along<sums, x_axes>(x.axes));
    if (k.fits && (k.extent == 1 || k.stride[0] == 1)) { return x; }
    using order = join_t<row_axes, sums>;
    axis dense[max_rank] = {};
    for (std::size_t i = 0; i < order::size; ++i) { dense[i].extent = x.axes[places<order, x_axes>::at[i]].extent; }
    make_contiguous(dense, order::size);
    lowered<float> copy;
    for (std::size_t i = 0; i < x_axes::size; ++i) { copy.axes[i] = dense[places<x_axes, order>::at[i]]; }
    if constexpr (Pass::computes) {
      copy.buffer.resize(checked_size<x_axes>(copy.axes, sizeof(float), "evaluate"));
      copy.data = copy.buffer.data();
      copy_axes<float>(x_axes::size, copy.axes, copy.axes, x.axes, copy.buffer.data(), x.data);
    }
    return copy;
  }
  static void compute(context& cx, kernels::quantised_product_call call, const lowered<float>& x,
                      const chain_steps& pieces, const axis* to, float* c) {
    if (call.n == 0) { return; }
    const bool bias_fits =
        !pieces.has_bias || is_row_of(axes::size, to, pieces.bias_strides, call.n, places<axes, row_axes>::at);
    const bool residual_fits = !pieces.has_residual || lies_like(axes::size, to, pieces.residual_strides);
    const bool at_once = bias_fits && residual_fits;
    if (at_once) {
      call.epilogue.column_bias = pieces.bias.data;
      call.epilogue.activation = pieces.activation;
      call.epilogue.residual = pieces.has_residual;
    }
    axis rows[max_rank];
    std::ptrdiff_t strides[2][max_rank] = {};
    for (std::size_t i = 0; i < row_axes::size; ++i) {
      rows[i] = to[places<row_axes, axes>::at[i]];
      strides[0][i] = rows[i].stride;
    }
    align<row_axes, x_axes>(x.axes, strides[1]);
    const kernels::quantised_table& table = kernels::active_quantised();
    kernels::for_each_row(nest_over(row_axes::size, rows, strides),
                          [&](const std::ptrdiff_t(&o)[2], std::size_t m, const std::ptrdiff_t(&s)[2]) {
      call.m = m;
      call.c = c + o[0];
      call.c_row = call.residual_row = s[0];
      call.a = x.data + o[1];
      call.a_row = s[1];
      call.residual = pieces.has_residual ? pieces.residual.data + o[0] : nullptr;
      const auto memory = scratch(table.product_bytes(call, cx.runner().worker_count()));
      table.product(call, const_cast<unsigned char*>(memory.data()), cx.runner());
    });
    if (!at_once) { finish_apart(axes::size, pieces, {c, to}); }
  }
};

}  // namespace dimwise::detail
