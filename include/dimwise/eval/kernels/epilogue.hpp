// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/epilogue.hpp -- what follows a product element by element, done before it is stored.
//
// Layer: eval. residual + f(x · w + bias): each step of its own would read and write all of the result once more.
// Tests: tests/eval/plan/plan.test.cpp
#pragma once

#include <dimwise/eval/kernels/product.hpp>
#include <dimwise/support/library.hpp>

namespace dimwise::detail {

// ---- f(product + bias) + residual ----------------------------------------------------------------------------------

// Steps in the order in which the kernel takes them; a chain may leave some out, never exchange them.
enum class product_step : unsigned char { product, bias, activation, residual };

template <class N>
struct product_chain {
  static constexpr bool matches = false;
};
template <class Shape, class Over, class A, class B>
  requires(std::is_same_v<value_of<A>, float> && std::is_same_v<value_of<B>, float>)
struct product_chain<contraction<Shape, Over, A, B>> {
  static constexpr bool matches = true;
  static constexpr auto last = product_step::product;
  using product = contraction<Shape, Over, A, B>;
  static const product& find(const product& n) { return n; }
  template <class Pieces>
  static void collect(const product&, Pieces&) {}
};

template <class Shape, class F, class E>
  requires(kernels::is_activation(function_code<F>) && product_chain<E>::matches &&
           product_chain<E>::last < product_step::activation)
struct product_chain<elementwise<Shape, float, F, E>> : product_chain<E> {
  static constexpr auto last = product_step::activation;
  static const auto& find(const elementwise<Shape, float, F, E>& n) {
    return product_chain<E>::find(n.template child<0>());
  }
  template <class Pieces>
  static void collect(const elementwise<Shape, float, F, E>& n, Pieces& to) {
    product_chain<E>::collect(n.template child<0>(), to);
    to.activation = function_code<F>;
  }
};

// What is added to a chain: as large as the product, or a bias of some of its dimensions.
template <class Chain, class X>
consteval bool adds_to_chain() {
  if constexpr (!product_chain<Chain>::matches || !std::is_same_v<value_of<X>, float>) {
    return false;
  } else if constexpr (is_masked<X> || gives_hidden_weights<X> ||
                       !is_subset<axes_for<shape_of<X>>, axes_for<shape_of<Chain>>>) {
    return false;
  } else if constexpr (axes_for<shape_of<X>>::size == axes_for<shape_of<Chain>>::size) {
    return product_chain<Chain>::last < product_step::residual;
  } else {
    return axes_for<shape_of<X>>::size > 0 && product_chain<Chain>::last < product_step::bias;
  }
}

template <class N, class Chain, class X, std::size_t ChainAt>
struct extended_chain : product_chain<Chain> {
  static constexpr bool is_residual = axes_for<shape_of<X>>::size == axes_for<shape_of<Chain>>::size;
  static constexpr auto last = is_residual ? product_step::residual : product_step::bias;
  static const auto& find(const N& n) { return product_chain<Chain>::find(n.template child<ChainAt>()); }
  template <class Pieces>
  static void collect(const N& n, Pieces& to) {
    product_chain<Chain>::collect(n.template child<ChainAt>(), to);
    to.template add<is_residual>(n.template child<1 - ChainAt>());
  }
};
template <class Shape, class A, class B>
  requires(adds_to_chain<A, B>())
struct product_chain<elementwise<Shape, float, fn::add, A, B>>
    : extended_chain<elementwise<Shape, float, fn::add, A, B>, A, B, 0> {};
template <class Shape, class A, class B>
  requires(!adds_to_chain<A, B>() && adds_to_chain<B, A>())
struct product_chain<elementwise<Shape, float, fn::add, A, B>>
    : extended_chain<elementwise<Shape, float, fn::add, A, B>, B, A, 1> {};

// What follows a product: the operands, with their strides along the product's axes.
struct chain_steps {
  lowered<float> bias{};
  std::ptrdiff_t bias_strides[max_rank] = {};
  kernels::function activation = kernels::function::none;
  lowered<float> residual{};
  std::ptrdiff_t residual_strides[max_rank] = {};
  bool has_bias = false;
  bool has_residual = false;

  [[nodiscard]] std::string in_words() const {
    return std::string(has_bias ? ", plus a bias" : "") +
           (activation == kernels::function::none ? "" : ", through a function") +
           (has_residual ? ", plus a residual" : "");
  }
};
// The same as a chain is walked.
template <class Axes, class Pass>
struct chain_pieces : chain_steps {
  Pass& pass;

  explicit chain_pieces(Pass& p) : pass(p) {}

  template <bool IsResidual, class X>
  void add(const X& x) {
    (IsResidual ? residual : bias) = read<float>(pass, x);
    (IsResidual ? has_residual : has_bias) = true;
    align<Axes, axes_for<shape_of<X>>>((IsResidual ? residual : bias).axes,
                                       IsResidual ? residual_strides : bias_strides);
  }
};

// The axes of the product within a chain, and where the chain's result has their elements.
template <class Axes, class N, class Product>
void write_product_axes(const Product& p, const target<float>& whole, axis* to) {
  axis_extents<Axes>::write(p.extents(), to);
  std::ptrdiff_t strides[max_rank] = {};
  align<Axes, axes_for<shape_of<N>>>(whole.axes, strides);
  for (std::size_t i = 0; i < Axes::size; ++i) { to[i].stride = strides[i]; }
}

// to = f(to, x), element by element.
template <class F>
void update(std::size_t rank, target<float> to, const std::ptrdiff_t* x_strides, const float* x, const F& f) {
  kernels::loop_nest<2> nest;
  for (std::size_t i = 0; i < rank; ++i) { nest.add(to.axes[i].extent, {to.axes[i].stride, x_strides[i]}); }
  kernels::for_each_element(nest, [&](std::ptrdiff_t t, std::ptrdiff_t g) { to.data[t] = f(to.data[t], x[g]); });
}

// A residual of the result's layout is found by the result's strides.
DIMWISE_DETAIL_LIBRARY bool lies_like(std::size_t rank, const axis* to, const std::ptrdiff_t* strides);
// A bias is one contiguous row of all columns, or of all rows where operands changed places. Columns are the axes that
// `rows` lacks.
DIMWISE_DETAIL_LIBRARY bool is_row_of(std::size_t rank, const axis* extents, const std::ptrdiff_t* strides,
                                      std::size_t columns, const short* rows);
// The steps behind a product one after the other, where the kernel does not take them.
DIMWISE_DETAIL_LIBRARY void finish_apart(std::size_t rank, const chain_steps& steps, target<float> to);
// A product and what follows it; false where a hidden value may have spoiled it.
DIMWISE_DETAIL_LIBRARY bool multiply_and_finish(context& cx, const product_form& form, target<float> to,
                                                const lowered<float>& a, const lowered<float>& b,
                                                const chain_steps& steps);

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/kernels/epilogue_definitions.hpp>
#endif
