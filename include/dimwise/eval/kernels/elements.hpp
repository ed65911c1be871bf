// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/kernels/elements.hpp -- vectorized choices, comparisons and limits of elements that are contiguous in
// memory; eval/records/elements_definitions.hpp has functions, arithmetic, masks and biases.
//
// Layer: eval. History: 1 is the reference loop; 2 takes rows through the kernels, several of them for a part of a row
// while it is in the first cache: clamp 4.8 times as fast, max(x, 0) 4.1, where(x > c, x, 0) 2.4 (a million elements,
// AVX-512, one thread, g++-12 -O2, the least of 40 runs of `evaluate`).
// Tests: tests/eval/plan/plan.test.cpp, tests/eval/plan/operations.test.cpp
#pragma once

#include <dimwise/eval/kernels/codes.hpp>
#include <dimwise/eval/loops/elements.hpp>
#include <dimwise/expr/elements/elementwise.hpp>
#include <dimwise/support/library.hpp>

namespace dimwise::detail {

// A strategy for children in memory says `compute(cx, n, to, x)`, and for plans `fits(n, axes, x)`. This is what
// computes where a kernel that fits is `run(cx, n, to, x)`.
template <class Strategy>
struct kernel_or_loops {
  template <class C, class N, class Lowered>
  static void compute(context& cx, const N& n, target<C> to, const Lowered& x) {
    if (!cx.reference_forced() && Strategy::fits(n, to.axes, x)) {
      cx.count(Strategy::kind);
      return Strategy::run(cx, n, to, x);
    }
    cx.count(plan_kind::plain);
    loops<C>(n, to, x);
  }
};

// A strategy of rows: the backward pass and losses specialise it (eval/kernels/backward.hpp, loss.hpp).
template <class N>
struct by_row_kernel {
  static constexpr bool matches = false;
};

// A kernel's own overhead is worth a dozen elements.
inline constexpr std::size_t least_row = 16;

// How a node is computed, in float or in double. `kernel` is `run(table, n, pointers, steps, to)` for `n` contiguous
// elements, the pointers and steps of its children; it knows no names, so one is compiled for all nodes of a function.
// `part` elements at a time: few where several kernels go over them.
template <bool Known, class Kernel = void, std::size_t Part = part_elements>
struct has_element_kernel {
  static constexpr bool known = Known;
  static constexpr std::size_t part = Part;
  using kernel = Kernel;
  template <class N>
  [[gnu::always_inline]] static bool takes(const N&) {
    return true;
  }
};
inline constexpr std::size_t cached_part = part_elements / 4;

template <class N>
struct element_kernel : has_element_kernel<false> {};

// A square is a power by the number 2.
struct square_kernel {
  template <class Table, class Pointers, class T>
  static void run(const Table& table, std::size_t n, const Pointers& x, const std::ptrdiff_t* step, T* to) {
    if (step[0] == 1) { return table.map(kernels::function::square, n, child_in<0>(x), to); }
    table.zip(kernels::operation::multiply, n, child_in<0>(x), step[0], child_in<0>(x), step[0], to);
  }
};
template <class Shape, real_element T, class X, class U>
struct element_kernel<elementwise<Shape, T, fn::pow, X, constant<U>>> : has_element_kernel<is_float<X>, square_kernel> {
  static bool takes(const elementwise<Shape, T, fn::pow, X, constant<U>>& n) {
    return n.template child<1>().op().value == 2;
  }
};

struct clamp_kernel {
  template <class Table, class Pointers, class T>
  static void run(const Table& table, std::size_t n, const Pointers& x, const std::ptrdiff_t* step, T* to) {
    table.zip(kernels::operation::max, n, child_in<0>(x), step[0], child_in<1>(x), step[1], to);
    table.zip(kernels::operation::min, n, to, 1, child_in<2>(x), step[2], to);
  }
};
template <class Shape, real_element T, class X, class Low, class High>
struct element_kernel<elementwise<Shape, T, fn::clamp, X, Low, High>>
    : has_element_kernel<is_float<X> && is_float<Low> && is_float<High>, clamp_kernel, cached_part> {};

struct choose_kernel {
  template <class Table, class Pointers, class T>
  static void run(const Table& table, std::size_t n, const Pointers& x, const std::ptrdiff_t* step, T* to) {
    table.choose(n, child_in<0>(x), step[0], child_in<1>(x), step[1], child_in<2>(x), step[2], to);
  }
};
template <class Shape, real_element T, class M, class A, class B>
struct element_kernel<elementwise<Shape, T, fn::choose, M, A, B>>
    : has_element_kernel<is_float<A> && is_float<B>, choose_kernel, cached_part> {};

// Comparisons.
template <class F>
struct compare_kernel {
  template <class Table, class Pointers, class T>
  static void run(const Table& table, std::size_t n, const Pointers& x, const std::ptrdiff_t* step, T* to) {
    constexpr std::size_t a = relation_of<F>::first;
    table.compare(relation_of<F>::code, n, child_in<a>(x), step[a], child_in<1 - a>(x), step[1 - a], to);
  }
};
template <class Shape, class F, class A, class B>
  requires(relation_of<F>::known)
struct element_kernel<elementwise<Shape, bool, F, A, B>>
    : has_element_kernel<is_float<A> && is_float<B>, compare_kernel<F>, cached_part> {};

// Whether kernels take these loops: enough elements, the innermost ones contiguous. One of several operands may be the
// same number for all of those; bools have any step.
template <class List>
struct any_step;
template <class... X>
struct any_step<list<X...>> {
  static constexpr bool of[] = {std::is_same_v<typename child_facts<X>::template type<float>, bool>..., false};
};
template <std::size_t K>
bool elements_fit(const kernels::loop_nest<K>& nest, const bool* any_step) {
  if (nest.rank == 0 || nest.empty()) { return false; }
  const std::size_t in = nest.rank - 1;
  if (nest.extent[in] < least_row || nest.stride[0][in] != 1) { return false; }
  for (std::size_t k = 1; k < K; ++k) {
    const bool same = K > 2 && nest.stride[k][in] == 0;
    if (nest.stride[k][in] != 1 && !same && !any_step[k - 1]) { return false; }
  }
  return true;
}

// Part of a row of a node: `n` elements, which begin `begin` steps behind the offsets. `table` holds the kernels of the
// type that it is computed in.
using element_part = void(const void* table, std::size_t n, void* to, const void* x, const std::ptrdiff_t* offset,
                          const std::ptrdiff_t* step, std::size_t begin);
// Every row in parts; `x` is given to each of them. One function for all nodes with as many children.
template <std::size_t K>
void run_elements(context& cx, const kernels::loop_nest<K>& nest, std::size_t elements, const void* table,
                  element_part* part, void* to, const void* x) {
  kernels::for_each_row(nest, [&](const std::ptrdiff_t(&o)[K], std::size_t n, const std::ptrdiff_t(&s)[K]) {
    in_parts(cx, n, elements,
             [&](std::size_t begin, std::size_t end) { part(table, end - begin, to, x, o, s, begin); });
  });
}

// Such a part by a kernel that computes in C, from children in memory.
template <class Kernel, class C, class T, class Lowered>
struct part_by;
template <class Kernel, class C, class T, class... X>
struct part_by<Kernel, C, T, lowered_children_of<lowered<X>...>> {
  static void run(const void* table, std::size_t n, void* to, const void* x, const std::ptrdiff_t* offset,
                  const std::ptrdiff_t* step, std::size_t begin) {
    run(*static_cast<const kernels::active_kernels_for<C>*>(table), n, static_cast<T*>(to),
        *static_cast<const lowered_children_of<lowered<X>...>*>(x), offset, step, static_cast<std::ptrdiff_t>(begin),
        std::index_sequence_for<X...>{});
  }

 private:
  template <std::size_t... I>
  [[gnu::always_inline]] static void run(const kernels::active_kernels_for<C>& table, std::size_t n, T* to,
                                         const lowered_children_of<lowered<X>...>& x, const std::ptrdiff_t* offset,
                                         const std::ptrdiff_t* step, std::ptrdiff_t begin, std::index_sequence<I...>) {
    Kernel::run(table, n, children_of<const X*...>{child_in<I>(x).data + offset[1 + I] + begin * step[1 + I]...},
                step + 1, to + offset[0] + begin);
  }
};

// What remains of such a node when its names are gone.
template <std::size_t K>
struct element_form {
  const bool* any_step;
  std::size_t elements;  // of a part
  const void* (*table)();
  element_part* kernel;
  element_loops<K>* plain;
};
// One function for all nodes with as many children; `takes`: the kernel has this node's numbers.
template <std::size_t K>
[[gnu::noinline]] void compute_elements(context& cx, const element_form<K>& form, bool takes,
                                        const kernels::loop_nest<K>& nest, const void* f, void* to, const void* x) {
  if (takes && !cx.reference_forced() && elements_fit(nest, form.any_step)) {
    cx.count(plan_kind::map);
    return run_elements(cx, nest, form.elements, form.table(), form.kernel, to, x);
  }
  cx.count(plan_kind::plain);
  form.plain(nest, f, to, x);
}

template <class C>
const void* kernels_in() {
  return &kernels::active_for<C>();
}

// A strategy: the children of a node through its element kernel.
template <class N>
struct by_element_kernel {
  static constexpr bool matches = element_kernel<N>::known;
  static constexpr bool in_double = true;
  static constexpr plan_kind kind = plan_kind::map;

  template <class Lowered>
  static bool fits(const N& n, const axis* to, const Lowered& x) {
    return element_kernel<N>::takes(n) && elements_fit(child_nest<N>(to, x), any_step<children_t<N>>::of);
  }
  template <class C, class T, class Lowered>
  [[gnu::always_inline]] static void compute(context& cx, const N& n, target<T> to, const Lowered& x) {
    const auto f = element_function<C, N>::of(n);
    using function = std::remove_const_t<decltype(f)>;
    static constexpr element_form<1 + children_t<N>::size> form = {
        any_step<children_t<N>>::of, element_kernel<N>::part, &kernels_in<C>,
        &part_by<typename element_kernel<N>::kernel, C, T, Lowered>::run,
        &element_by_element<function, T, Lowered>::run};
    compute_elements(cx, form, element_kernel<N>::takes(n), child_nest<N>(to.axes, x), &f, to.data, &x);
  }
};

#if DIMWISE_DETAIL_HAS_LIBRARY
DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_elements<2>(context&, const element_form<2>&, bool,
                                                         const kernels::loop_nest<2>&, const void*, void*, const void*);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_elements<3>(context&, const element_form<3>&, bool,
                                                         const kernels::loop_nest<3>&, const void*, void*, const void*);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void compute_elements<4>(context&, const element_form<4>&, bool,
                                                         const kernels::loop_nest<4>&, const void*, void*, const void*);
#endif

}  // namespace dimwise::detail
