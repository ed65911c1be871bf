// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/fast_choice.hpp -- the map plan for what is not one function or one operation: where, clamp, comparisons, masks,
// biases, and arithmetic of masked values.
//
// Layer: eval. History: 1 is the plain loop; 2 takes rows through the kernels, several of them for a part of a row while it is
// in the first cache: clamp 4.8 times as fast, max(x, 0) 4.1, where(x > c, x, 0) 2.4 (a million elements, AVX-512, one thread,
// g++-12 -O2, the least of 40 runs of `evaluate`).
// Tests: tests/eval/words_plan.test.cpp
#pragma once

#include <dimwise/eval/fast_elements.hpp>
#include <dimwise/eval/layout.hpp>

#include <tuple>
#include <utility>

namespace dimwise::detail {

// How a node of several operands is computed for `n` contiguous elements: `run(table, n, pointers, steps, to)`.
template <class N>
struct element_kernel {
  static constexpr bool known = false;
};

// What is masked stays masked.
template <bool IsMasked>
void hide_like(const kernels::table& table, std::size_t n, const float* x, std::ptrdiff_t step, float* to) {
  if constexpr (IsMasked) { table.zip(kernels::operation::hide, n, to, 1, x, step, to); }
}
template <class Shape, class F, class A, class B>
  requires(has_operation<F> && (is_masked<A> || is_masked<B>) && std::is_same_v<value_of<A>, float> &&
           std::is_same_v<value_of<B>, float>)
struct element_kernel<elementwise<Shape, float, F, A, B>> {
  static constexpr bool known = true;
  template <class Pointers>
  static void run(const kernels::table& table, std::size_t n, const Pointers& x, const std::ptrdiff_t* step,
                  float* to) {
    table.zip(operation_code<F>, n, std::get<0>(x), step[0], std::get<1>(x), step[1], to);
    hide_like<is_masked<A>>(table, n, std::get<0>(x), step[0], to);
    hide_like<is_masked<B>>(table, n, std::get<1>(x), step[1], to);
  }
};

template <class Shape, class X, class Low, class High>
  requires(std::is_same_v<value_of<X>, float> && std::is_same_v<value_of<Low>, float> &&
           std::is_same_v<value_of<High>, float>)
struct element_kernel<elementwise<Shape, float, fn::clamp, X, Low, High>> {
  static constexpr bool known = true;
  template <class Pointers>
  static void run(const kernels::table& table, std::size_t n, const Pointers& x, const std::ptrdiff_t* step,
                  float* to) {
    table.zip(kernels::operation::max, n, std::get<0>(x), step[0], std::get<1>(x), step[1], to);
    table.zip(kernels::operation::min, n, to, 1, std::get<2>(x), step[2], to);
  }
};

template <class Shape, class M, class A, class B>
  requires(std::is_same_v<value_of<A>, float> && std::is_same_v<value_of<B>, float>)
struct element_kernel<elementwise<Shape, float, fn::choose, M, A, B>> {
  static constexpr bool known = true;
  template <class Pointers>
  static void run(const kernels::table& table, std::size_t n, const Pointers& x, const std::ptrdiff_t* step,
                  float* to) {
    table.choose(n, std::get<0>(x), step[0], std::get<1>(x), step[1], std::get<2>(x), step[2], to);
  }
};

// Comparisons, the greater ones with their operands exchanged.
template <class F>
struct relation_of {
  static constexpr bool known = false;
};
template <kernels::relation R, bool Exchanged>
struct relation_is {
  static constexpr bool known = true;
  static constexpr auto code = R;
  static constexpr std::size_t first = Exchanged ? 1 : 0;
};
template <>
struct relation_of<fn::less> : relation_is<kernels::relation::less, false> {};
template <>
struct relation_of<fn::less_equal> : relation_is<kernels::relation::less_equal, false> {};
template <>
struct relation_of<fn::greater> : relation_is<kernels::relation::less, true> {};
template <>
struct relation_of<fn::greater_equal> : relation_is<kernels::relation::less_equal, true> {};
template <>
struct relation_of<fn::equal> : relation_is<kernels::relation::equal, false> {};
template <>
struct relation_of<fn::not_equal> : relation_is<kernels::relation::not_equal, false> {};
template <class Shape, class F, class A, class B>
  requires(relation_of<F>::known && std::is_same_v<value_of<A>, float> && std::is_same_v<value_of<B>, float>)
struct element_kernel<elementwise<Shape, bool, F, A, B>> {
  static constexpr bool known = true;
  template <class Pointers>
  static void run(const kernels::table& table, std::size_t n, const Pointers& x, const std::ptrdiff_t* step, bool* to) {
    constexpr std::size_t a = relation_of<F>::first;
    table.compare(relation_of<F>::code, n, std::get<a>(x), step[a], std::get<1 - a>(x), step[1 - a], to);
  }
};

// The pointers of one row of a nest, from its element `begin` on.
template <class... T, std::size_t K, std::size_t... I>
auto row_pointers(const std::tuple<const T*...>& x, const std::ptrdiff_t (&offset)[K], const std::ptrdiff_t (&step)[K],
                  std::size_t begin, std::index_sequence<I...>) {
  return std::tuple<const T*...>(std::get<I>(x) + offset[1 + I] + static_cast<std::ptrdiff_t>(begin) * step[1 + I]...);
}
// run(n, pointers, steps, to) for every part of every row: short enough for several kernels to find it in the cache.
template <std::size_t K, class Out, class... T, class Run>
void for_row_parts(const kernels::loop_nest<K>& nest, Out* to, const std::tuple<const T*...>& x, const Run& run) {
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[K], std::size_t n, const std::ptrdiff_t(&s)[K]) {
    in_parts(n, part_elements / 4, [&](std::size_t begin, std::size_t end) {
      run(end - begin, row_pointers(x, o, s, begin, std::index_sequence_for<T...>{}), &s[1],
          to + o[0] + static_cast<std::ptrdiff_t>(begin));
    });
  });
}

// False where no kernel takes it.
template <class Shape, class T, class F, class... X, class Lowered, class Out, std::size_t... I>
bool elements_by_kernel(const elementwise<Shape, T, F, X...>& n, const Lowered& x, target<Out> to,
                        std::index_sequence<I...>) {
  kernels::loop_nest<1 + sizeof...(X)> nest;
  if (!elements_fit<Shape, X...>(n.extents(), to.axes, nest, std::get<I>(x)...)) { return false; }
  const kernels::table& table = kernels::active();
  count_plan(plan_kind::map);
  for_row_parts(nest, to.data, std::tuple(std::get<I>(x).data...),
                [&](std::size_t count, const auto& pointers, const std::ptrdiff_t* step, Out* out) {
    element_kernel<elementwise<Shape, T, F, X...>>::run(table, count, pointers, step, out);
  });
  return true;
}

// ---- masks and biases ---------------------------------------------------------------------------------------------------

// A mask as an operand of loops.
template <class M>
struct mask_elements {
  using shape_type = typename M::facts::shape;
  using value_type = bool;
};
template <class Axes>
struct bias_elements;
template <class... A>
struct bias_elements<list<A...>> {
  using shape_type = shape<A...>;
  using value_type = float;
};

template <class Shape, class E, class M, class X, class V>
bool mask_fits(const masked_node<Shape, E, M>& n, const axis* to, kernels::loop_nest<3>& nest, const X& x,
               const V& visible) {
  return elements_fit<Shape, E, mask_elements<M>>(n.extents(), to, nest, x, visible);
}
template <class Shape, class E, class M>
bool mask_by_kernel(const masked_node<Shape, E, M>& n, const lowered<float>& x, const lowered<bool>& visible,
                    target<float> to) {
  kernels::loop_nest<3> nest;
  if (!mask_fits(n, to.axes, nest, x, visible)) { return false; }
  const kernels::table& table = kernels::active();
  count_plan(plan_kind::map);
  for_row_parts(nest, to.data, std::tuple(x.data, visible.data),
                [&](std::size_t count, const auto& from, const std::ptrdiff_t* step, float* out) {
    constexpr float hidden = kernels::minus_infinity<float>;
    table.choose(count, std::get<1>(from), step[1], std::get<0>(from), step[0], &hidden, 0, out);
  });
  return true;
}

template <class Shape, class E, class BiasAxes, class X, class B>
bool bias_fits(const extents_for<Shape>& extents, const axis* to, kernels::loop_nest<3>& nest, const X& x,
               const B& bias) {
  return elements_fit<Shape, E, bias_elements<BiasAxes>>(extents, to, nest, x, bias);
}
template <class Shape, class E, class BiasAxes>
bool bias_by_kernel(const extents_for<Shape>& extents, const lowered<float>& x, const lowered<float>& bias,
                    target<float> to) {
  kernels::loop_nest<3> nest;
  if (!bias_fits<Shape, E, BiasAxes>(extents, to.axes, nest, x, bias)) { return false; }
  const kernels::table& table = kernels::active();
  count_plan(plan_kind::map);
  for_row_parts(nest, to.data, std::tuple(x.data, bias.data),
                [&](std::size_t count, const auto& from, const std::ptrdiff_t* step, float* out) {
    table.zip(kernels::operation::add, count, std::get<0>(from), step[0], std::get<1>(from), step[1], out);
    hide_like<is_masked<E>>(table, count, std::get<0>(from), step[0], out);
    hide_like<true>(table, count, std::get<1>(from), step[1], out);  // a bias of −∞ hides whatever the score is
  });
  return true;
}

}  // namespace dimwise::detail
