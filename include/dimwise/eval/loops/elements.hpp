// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/loops/elements.hpp -- reference loops element by element: functions, masks as numbers, widening.
//
// Layer: eval. `element_function<N>` says what one element of the result is made of; one loop serves them all.
// Tests: tests/expr/elements/elementwise.test.cpp, tests/expr/masks/mask.test.cpp, tests/nn/cache/bfloat16.test.cpp
#pragma once

#include <dimwise/eval/pass.hpp>
#include <dimwise/expr/elements/elementwise.hpp>
#include <dimwise/expr/elements/widen.hpp>

namespace dimwise::detail {

// f(children's elements…) for a node N that is computed in C: `of(n)` gives a function object that knows no names, so
// one loop is compiled for all nodes of a function.
template <class C, class N>
struct element_function {
  static constexpr bool known = false;
};
template <class Function>
struct has_element_function {
  static constexpr bool known = true;
  template <class N>
  [[gnu::always_inline]] static Function of(const N&) {
    return {};
  }
};

// Masked elements stay masked, whatever the arithmetic would make of −∞.
template <class C, class F, bool... IsMasked>
struct kept_masked {
  F f;
  template <class... V>
  C operator()(V... x) const {
    const bool hidden = ((IsMasked && x == kernels::minus_infinity<C>) || ...);
    return hidden ? kernels::minus_infinity<C> : static_cast<C>(f(x...));
  }
};
template <class C, class Shape, class T, class F, class... X>
struct element_function<C, elementwise<Shape, T, F, X...>> {
  static constexpr bool known = true;
  static constexpr bool keeps_mask = (is_masked<X> || ...) && !fn::ends_mask<F>;
  [[gnu::always_inline]] static auto of(const elementwise<Shape, T, F, X...>& n) {
    if constexpr (keeps_mask) {
      return kept_masked<C, F, is_masked<X>...>{n.op().f};
    } else {
      return n.op().f;
    }
  }
};

template <class V>
struct visible_as_number {
  V operator()(bool visible) const { return static_cast<V>(visible); }
};
template <class C, class Shape, class T, class M>
struct element_function<C, indicator_node<Shape, T, M>> : has_element_function<visible_as_number<compute_t<C, T>>> {};

template <class C>
struct widened_element {
  template <class S>
  C operator()(S x) const {
    return static_cast<C>(static_cast<float>(x));
  }
  template <class S>
  C operator()(S x, C scale) const {
    return static_cast<C>(static_cast<float>(x)) * scale;
  }
};
template <class C, class Shape, class X, class... Scale>
struct element_function<C, widened_node<Shape, nothing, X, Scale...>> : has_element_function<widened_element<C>> {};

// f of each element.
template <class C, class F, class X>
void element_loop(const kernels::loop_nest<2>& nest, C* to, const F& f, const X* x) {
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[2], std::size_t count, const std::ptrdiff_t(&s)[2]) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
// A user's function of float also takes double: in the reference, and behind an `expr`.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
      to[o[0] + j * s[0]] = f(x[o[1] + j * s[1]]);
#pragma GCC diagnostic pop
    }
  });
}

// All elements: the loops, the function, where the result begins, and the children in memory.
template <std::size_t K>
using element_loops = void(const kernels::loop_nest<K>& nest, const void* f, void* to, const void* x);
template <class F, class T, class Lowered>
struct element_by_element;
template <class F, class T, class... X>
struct element_by_element<F, T, lowered_children_of<lowered<X>...>> {
  static constexpr std::size_t pointers = 1 + sizeof...(X);

  static void run(const kernels::loop_nest<pointers>& nest, const void* f, void* to, const void* x) {
    run(nest, *static_cast<const F*>(f), static_cast<T*>(to),
        *static_cast<const lowered_children_of<lowered<X>...>*>(x), std::index_sequence_for<X...>{});
  }

 private:
  template <std::size_t... I>
  [[gnu::always_inline]] static void run(const kernels::loop_nest<pointers>& nest, const F& f, T* to,
                                         const lowered_children_of<lowered<X>...>& x, std::index_sequence<I...>) {
    kernels::for_each_row(
        nest, [&](const std::ptrdiff_t(&o)[pointers], std::size_t count, const std::ptrdiff_t(&s)[pointers]) {
      T* const out = to + o[0];
      for (std::size_t i = 0; i < count; ++i) {
        const auto j = static_cast<std::ptrdiff_t>(i);
// A user's function of float also takes double: in the reference, and behind an `expr`.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
        out[j * s[0]] = f(child_in<I>(x).data[o[1 + I] + j * s[1 + I]]...);
#pragma GCC diagnostic pop
      }
    });
  }
};
template <class C, class N, class T, class Lowered>
  requires(element_function<C, N>::known)
[[gnu::always_inline]] inline void loops(const N& n, target<T> to, const Lowered& x) {
  const auto f = element_function<C, N>::of(n);
  element_by_element<std::remove_const_t<decltype(f)>, T, Lowered>::run(child_nest<N>(to.axes, x), &f, to.data, &x);
}

template <class C, class T, class U, class Lowered>
void loops(const constant<T>& n, target<U> to, const Lowered&) {
  *to.data = static_cast<U>(n.op().value);
}

// A number that is stored in 8 bits, or the half of a byte in which element f is.
inline int number_in(std::int8_t x, std::size_t) { return x; }
inline int number_in(int4_pair x, std::size_t f) { return f % 2 == 0 ? x.first() : x.second(); }

// Two numbers to a byte along the feature `Packed`, times their scale.
template <class C, class Shape, class Packed, class X, class Scale, class Lowered>
  requires(!std::is_same_v<Packed, nothing>)
void loops(const widened_node<Shape, Packed, X, Scale>&, target<C> to, const Lowered& in) {
  using axes = axes_for<Shape>;
  constexpr std::size_t f_axis = index_in<Packed, axes>;
  const auto& x = child_in<0>(in);
  const auto& scale = child_in<1>(in);
  axis result[max_rank];
  for (std::size_t i = 0; i < axes::size; ++i) { result[i] = to.axes[i]; }
  const std::size_t features = result[f_axis].extent;
  result[f_axis].extent = 1;
  const std::ptrdiff_t step[3] = {to.axes[f_axis].stride, x.axes[f_axis].stride,
                                  stride_of<Packed, axes_for<shape_of<Scale>>>(scale)};
  // The bytes of a feature have its place among the axes.
  kernels::for_each_row(nest_of<axes, axes, axes_for<shape_of<Scale>>>(result, x, scale),
                        [&](const std::ptrdiff_t(&o)[3], std::size_t count, const std::ptrdiff_t(&s)[3]) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      for (std::size_t f = 0; f < features; ++f) {
        const auto g = static_cast<std::ptrdiff_t>(f);
        const int number = number_in(x.data[o[1] + j * s[1] + g / 2 * step[1]], f);
        to.data[o[0] + j * s[0] + g * step[0]] = static_cast<C>(number) * scale.data[o[2] + j * s[2] + g * step[2]];
      }
    }
  });
}

template <class Body>
void each_of_three(const kernels::loop_nest<3>& nest, const Body& body) {
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[3], std::size_t n, const std::ptrdiff_t(&s)[3]) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto j = static_cast<std::ptrdiff_t>(i);
      body(o[0] + j * s[0], o[1] + j * s[1], o[2] + j * s[2]);
    }
  });
}

// Numbers times the scale of their block: the rows of `Along`, and in each row every element by its place. Of packed
// numbers the feature's axis has the bytes; its place in the row says which half.
template <class C, class Shape, class Packed, class Along, class X, class Scale, class Lowered>
void loops(const widened_blocks_node<Shape, Packed, Along, X, Scale>& n, target<C> to, const Lowered& in) {
  using axes = axes_for<Shape>;
  using row = axes_of_list_t<Along>;
  using rest = difference_t<axes, row>;
  using scale_axes = axes_for<shape_of<Scale>>;
  using blocks_axis = typename scaled_blocks<Scale>::dimension;
  const auto& x = child_in<0>(in);
  const auto& scale = child_in<1>(in);
  axis extents[max_rank];
  axis_extents<axes>::write(n.extents(), extents);
  const auto nest_along = [&]<class Part>(Part) {
    axis part[max_rank];
    std::ptrdiff_t strides[3][max_rank] = {};
    for (std::size_t i = 0; i < Part::size; ++i) {
      const auto at = static_cast<std::size_t>(places<Part, axes>::at[i]);
      part[i] = extents[at];
      strides[1][i] = x.axes[at].stride;
    }
    align<Part, axes>(to.axes, strides[0]);
    align<Part, scale_axes>(scale.axes, strides[2]);
    return nest_over(Part::size, part, strides);
  };
  // The packed feature moves by elements in the result, and by bytes where its numbers are.
  constexpr std::size_t packed = is_in<Packed, axes> ? static_cast<std::size_t>(place_in<axes, Packed>) : max_rank;
  const std::ptrdiff_t block_step = stride_of<blocks_axis, scale_axes>(scale);
  each_of_three(nest_along(rest{}), [&](std::ptrdiff_t t, std::ptrdiff_t from, std::ptrdiff_t by) {
    std::size_t place = 0;
    each_of_three(nest_along(row{}), [&](std::ptrdiff_t u, std::ptrdiff_t g, std::ptrdiff_t b) {
      std::ptrdiff_t at = from + g;
      std::size_t half = 0;
      if constexpr (packed < max_rank) {
        half = place % extents[packed].extent;
        at += (static_cast<std::ptrdiff_t>(half / 2) - static_cast<std::ptrdiff_t>(half)) * x.axes[packed].stride;
      }
      const auto block = static_cast<std::ptrdiff_t>(place++ / block_extent);
      to.data[t + u] = static_cast<C>(number_in(x.data[at], half)) *
                       static_cast<C>(static_cast<float>(scale.data[by + b + block * block_step]));
    });
  });
}

}  // namespace dimwise::detail
