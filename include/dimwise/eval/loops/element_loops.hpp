// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops/element_loops.hpp -- the reference loops of functions, arithmetic, masks and biases.
//
// Layer: eval. Compiled once where a program links the library (support/library.hpp).
// Tests: tests/eval/plan/operations.test.cpp
#pragma once

#include <dimwise/eval/kernels/codes.hpp>
#include <dimwise/eval/loops/elements.hpp>
#include <dimwise/expr/elements/derivative.hpp>

namespace dimwise::detail {

// f of each pair of elements of the operands.
template <class C, class F, class X, class Y>
void element_loop(const kernels::loop_nest<3>& nest, C* to, const F& f, const X* x, const Y* y) {
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[3], std::size_t count, const std::ptrdiff_t(&s)[3]) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      to[o[0] + j * s[0]] = f(x[o[1] + j * s[1]], y[o[2] + j * s[2]]);
    }
  });
}
// f of each triple of elements of the operands.
template <class C, class F, class X>
void element_loop(const kernels::loop_nest<4>& nest, C* to, const F& f, const X* x, const C* y, const C* z) {
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[4], std::size_t count, const std::ptrdiff_t(&s)[4]) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      to[o[0] + j * s[0]] = f(x[o[1] + j * s[1]], y[o[2] + j * s[2]], z[o[3] + j * s[3]]);
    }
  });
}

struct visible_or_hidden {
  template <class V>
  V operator()(V x, bool visible) const {
    return visible ? x : static_cast<V>(kernels::minus_infinity<V>);
  }
};
// A bias of −∞ hides whatever the score is, and what is masked stays masked.
template <class C, bool IsMasked>
struct biased_element {
  C operator()(C x, C bias) const {
    const bool hidden = bias == kernels::minus_infinity<C> || (IsMasked && x == kernels::minus_infinity<C>);
    return hidden ? kernels::minus_infinity<C> : x + bias;
  }
};

// Masked elements stay masked, whatever the arithmetic would make of −∞.
template <class C, class F>
void unary_loop(const kernels::loop_nest<2>& nest, bool masked, C* to, const C* x) {
  if (masked && !fn::ends_mask<F>) { return element_loop(nest, to, kept_masked<C, F, true>{}, x); }
  element_loop(nest, to, F{}, x);
}
template <class C, class F>
void binary_loop(const kernels::loop_nest<3>& nest, bool a_masked, bool b_masked, C* to, const C* a, const C* b) {
  if (a_masked || b_masked) {
    const auto f = [&](C x, C y) {
      const bool hidden =
          (a_masked && x == kernels::minus_infinity<C>) || (b_masked && y == kernels::minus_infinity<C>);
      return hidden ? kernels::minus_infinity<C> : F{}(x, y);
    };
    return element_loop(nest, to, f, a, b);
  }
  element_loop(nest, to, F{}, a, b);
}

// A function or an operation without a loop does not compile.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
template <class C>
void unary_loops(kernels::function f, const kernels::loop_nest<2>& nest, bool masked, C* to, const C* x) {
  switch (f) {
    case kernels::function::none:
      return;
#define DIMWISE_DETAIL_LOOP(word) \
  case kernels::function::word:   \
    return unary_loop<C, fn::word>(nest, masked, to, x);
      DIMWISE_DETAIL_FUNCTIONS(DIMWISE_DETAIL_LOOP)
#undef DIMWISE_DETAIL_LOOP
  }
}
// The first operand, but −∞ where the second is −∞.
struct hide_where_hidden {
  template <class T>
  T operator()(T x, T like) const {
    return like == kernels::minus_infinity<T> ? like : x;
  }
};
template <class C>
void binary_loops(kernels::operation f, const kernels::loop_nest<3>& nest, bool a_masked, bool b_masked, C* to,
                  const C* a, const C* b) {
  switch (f) {
#define DIMWISE_DETAIL_LOOP(word, ...) \
  case kernels::operation::word:       \
    return binary_loop<C, __VA_ARGS__>(nest, a_masked, b_masked, to, a, b);
    DIMWISE_DETAIL_LOOP(add, fn::add)
    DIMWISE_DETAIL_LOOP(subtract, fn::subtract)
    DIMWISE_DETAIL_LOOP(multiply, fn::multiply)
    DIMWISE_DETAIL_LOOP(divide, fn::divide)
    DIMWISE_DETAIL_LOOP(max, fn::larger)
    DIMWISE_DETAIL_LOOP(min, fn::smaller)
    DIMWISE_DETAIL_LOOP(hide, hide_where_hidden)
    DIMWISE_DETAIL_LOOP(send_times, fn::sent<fn::multiply>)
    DIMWISE_DETAIL_LOOP(send_divided, fn::sent<fn::divide>)
#undef DIMWISE_DETAIL_LOOP
  }
}
#pragma GCC diagnostic pop

}  // namespace dimwise::detail
