// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/pass.hpp -- one walk over an expression, with memory (evaluation) or with layouts alone (plan).
//
// Layer: eval. `read` gives a node as memory to read, `write` computes it into a target. Both are templates over the
// pass, so a plan decides by the code that evaluates. A pass has a context, `computes`, and `note(kind, node, words)`
// before the work that is left out of a plan: evaluation counts the kind, a plan notes it with the words.
// Tests: tests/eval/plan/plan.test.cpp, tests/eval/evaluate.test.cpp
#pragma once

#include <dimwise/eval/context.hpp>
#include <dimwise/eval/lowering/views.hpp>
#include <dimwise/expr/explain/shapes.hpp>
#include <dimwise/expr/masks/mask.hpp>
#include <dimwise/expr/positions/positions.hpp>
#include <dimwise/expr/products/contract.hpp>
#include <dimwise/expr/rows/reduce.hpp>
#include <dimwise/kernels/dispatch/active.hpp>

#include <string>

namespace dimwise {

template <class T, class Shape>
class expr;  // eval/written/expr.hpp

}  // namespace dimwise

namespace dimwise::detail {

struct evaluation_pass {
  context& cx;

  static constexpr bool computes = true;
  template <class N, class Words>
  [[gnu::always_inline]] void note(plan_kind k, const N&, const Words&) {
    cx.count(k);
  }
};

template <class Op>
inline constexpr const char* name_of_operation = "map";  // a function of the user's own
template <class Op>
  requires requires { Op::name; }
inline constexpr const char* name_of_operation<Op> = Op::name;
// The name of an operation in a plan.
template <class Op>
struct words_of {
  static std::string get() { return name_of_operation<Op>; }
};
template <class Over>
struct words_of<product_over<Over>> {
  static std::string get() { return "contract over " + joined_names(names_in_list<Over>::get()); }
};
template <class N>
inline constexpr auto operation_in_words = &words_of<operation_of<N>>::get;

// Nodes whose elements are already somewhere: leaves, views of them, and a mask as a tensor of bool.
template <class N>
inline constexpr bool reads_in_place = is_leaf<N> || is_view<N>;
template <class Shape, class M>
inline constexpr bool reads_in_place<indicator_node<Shape, bool, M>> = true;

// Memory, or a view of some.
template <class N>
inline constexpr bool in_memory = is_leaf<N>;
template <class Shape, class How, class E>
inline constexpr bool in_memory<restride<Shape, How, E>> = in_memory<E>;

// Attention weights know which of them are of the score −∞, hidden or not: −0, which no other weight is. A product with
// them leaves out the values of these, whatever they are.
template <class N>
inline constexpr bool gives_hidden_weights = false;
template <class Shape, class Over, class E>
inline constexpr bool gives_hidden_weights<rowwise<Shape, rows::softmax, Over, E>> = true;
template <class Shape, class How, class E>
inline constexpr bool gives_hidden_weights<restride<Shape, How, E>> = gives_hidden_weights<E>;
template <class Shape, class T, class To, class E>
inline constexpr bool gives_hidden_weights<elementwise<Shape, T, fn::rounded<To>, E>> = gives_hidden_weights<E>;
// An expression whose type is only its shape (eval/written/expr.hpp).
template <class N>
inline constexpr bool is_erased = false;
template <class T, class Shape>
inline constexpr bool is_erased<expr<T, Shape>> = true;
// Whether an operand gives hidden weights is known when it is read: `lowered::hides`.
template <class N>
inline constexpr bool may_give_hidden_weights = is_erased<N>;
template <class Shape, class How, class E>
inline constexpr bool may_give_hidden_weights<restride<Shape, How, E>> = may_give_hidden_weights<E>;
template <class Shape, class T, class To, class E>
inline constexpr bool may_give_hidden_weights<elementwise<Shape, T, fn::rounded<To>, E>> = may_give_hidden_weights<E>;
// The elements of such an operand that a product leaves out.
template <class N>
inline constexpr auto leaves_out = gives_hidden_weights<N> ? kernels::left_out::hidden : kernels::left_out::nothing;
// The elements that kernels take.
template <class C>
inline constexpr bool has_kernels = kernels::available && (std::is_same_v<C, float> || std::is_same_v<C, double>);
// In double, nodes of float have none: the reference of a formula of float compiles and runs the loops alone.
template <class C, class N>
inline constexpr bool has_kernels_for = has_kernels<C>;
template <class N>
inline constexpr bool has_kernels_for<double, N> = has_kernels<double> && std::is_same_v<working_t<N>, double>;

// The nodes that are computed in float or double.
template <class X>
inline constexpr bool is_float = real_element<value_of<X>>;

template <class N>
inline constexpr bool is_masked = marked_t<masked_for, marks_t<shape_of<N>>>::size > 0;

// Whether a pass holds memory: an allocation and the loops that fill it are left out of a plan.
template <class Pass, class T, class Axes>
void allocate(lowered<T>& x, const char* operation) {
  if constexpr (Pass::computes) {
    x.buffer.resize(checked_size<Axes>(x.axes, sizeof(T), operation));
    x.data = x.buffer.data();
  }
}

template <class T, class Pass, class N>
[[gnu::always_inline]] inline lowered<T> read_elements(const N& leaf) {
  const auto& n = untracked_of(leaf);
  using axes = axes_for<shape_of<N>>;
  lowered<T> x;
  if constexpr (Pass::computes && axis_extents<axes>::in_slots && requires { read_shared(x, {}, 0, {}, n.handle()); }) {
    using slotted = typename extents_type_of<N>::slotted;
    read_shared(x, axis_extents<axes>::template sources<slotted>, axes::size, n.extents().slots(), n.handle());
  } else {
    [[maybe_unused]] const auto* const data = read_leaf(n, x.axes);
    if constexpr (std::is_same_v<T, untracked_t<value_of<N>>>) {
      if constexpr (Pass::computes) { x.data = data; }
      if constexpr (is_tensor<N>) { x.derived = n.derived(); }
    } else {
      axis from[max_rank]{};  // a tensor without dimensions copies none of it, which g++ 12 does not see
      for (std::size_t i = 0; i < axes::size; ++i) { from[i] = x.axes[i]; }
      make_contiguous(x.axes, axes::size);
      allocate<Pass, T, axes>(x, "evaluate");
      if constexpr (Pass::computes) { copy_axes<T>(axes::size, x.axes, x.axes, from, x.buffer.data(), data); }
    }
  }
  return x;
}

template <class C, class Pass, class N>
[[gnu::always_inline]] inline void write(Pass& pass, const N& n, target<compute_t<C, value_of<N>>> to);
// The same of an `expr`, by virtual functions (eval/written/erased.hpp).
template <class C, bool AsWeights, class Pass, class N>
lowered<compute_t<C, value_of<N>>> read_erased(Pass& pass, const N& n);
template <class C, class Pass, class N>
void write_erased(Pass& pass, const N& n, target<compute_t<C, value_of<N>>> to);
template <class Pass, class M, class Extents>
lowered<bool> read_mask(Pass& pass, const M& m, const Extents& e);
template <class C, class Pass, class B, class Extents>
lowered<C> read_bias(Pass& pass, const B& b, const Extents& e);

// Nodes that the library evaluates as records (eval/recorded.hpp).
template <class N>
inline constexpr bool is_recorded = false;
template <class C, class Pass, class N>
lowered<C> read_recorded(Pass& pass, const N& n, bool as_weights);
template <class C, class Pass, class N>
void write_recorded(Pass& pass, const N& n, target<C> to);

// `n` as memory, in C where it holds real numbers. `AsWeights`: what a softmax hides is −0.
template <class C, bool AsWeights = false, class Pass, class N>
lowered<compute_t<C, value_of<N>>> read(Pass& pass, const N& n) {
  using T = compute_t<C, value_of<N>>;
  if constexpr (is_leaf<N>) {
    return read_elements<T, Pass>(n);
  } else if constexpr (is_erased<N>) {
    return read_erased<C, AsWeights>(pass, untracked_of(n));
  } else if constexpr (is_recorded<N>) {
    return read_recorded<C>(pass, n, AsWeights);
  } else if constexpr (is_view<N>) {
    auto x = read<C, AsWeights>(pass, n.template child<0>());
    take_view(x, n);
    return x;
  } else if constexpr (reads_in_place<N>) {
    return read_mask(pass, n.template child<0>(), n.extents());
  } else {
    lowered<T> buffer{buffer_layout(n), nullptr, {}, nullptr};
    allocate<Pass, T, axes_for<shape_of<N>>>(buffer, "evaluate");
    write<C>(pass, n, target_of(buffer));
    return buffer;
  }
}

// ---- the children of a node -----------------------------------------------------------------------------------------

template <class B>
using bias_axes = axes_of_list_t<typename B::bias_facts::dims>;
template <class M>
using mask_axes = axes_of_list_t<typename M::facts::dims>;

// The axes of a child and the type of its elements, for a node that is computed in C.
template <class X>
struct child_facts {
  using axes = axes_for<shape_of<X>>;
  template <class C>
  using type = compute_t<C, value_of<X>>;
};
template <mask M>
struct child_facts<M> {
  using axes = mask_axes<M>;
  template <class C>
  using type = bool;
};
template <position_bias B>
struct child_facts<B> {
  using axes = bias_axes<B>;
  template <class C>
  using type = C;
};
template <class X>
using child_axes = typename child_facts<X>::axes;

template <class C, class Pass, class N, class X>
[[gnu::always_inline]] inline lowered<typename child_facts<X>::template type<C>> read_child(Pass& pass, const N& n,
                                                                                            const X& x) {
  if constexpr (mask<X>) {
    return read_mask(pass, x, n.extents());
  } else if constexpr (position_bias<X>) {
    return read_bias<C>(pass, x, n.extents());
  } else if constexpr (is_leaf<X>) {
    return read_elements<compute_t<C, value_of<X>>, Pass>(x);
  } else {
    constexpr bool as_weights = is_product<N> && (gives_hidden_weights<X> || may_give_hidden_weights<X>);
    return read<C, as_weights>(pass, x);
  }
}

// Children in memory, for `child_in`: aggregates, so that each is made where it stays.
template <class... X>
struct lowered_children_of {};
template <class A>
struct lowered_children_of<A> {
  A a;
};
template <class A, class B>
struct lowered_children_of<A, B> {
  A a;
  B b;
};
template <class A, class B, class C, class... More>
struct lowered_children_of<A, B, C, More...> {
  A a;
  B b;
  C c;
  [[no_unique_address]] lowered_children_of<More...> more{};
};

template <class C, class List>
struct lowered_list;
template <class C, class... X>
struct lowered_list<C, list<X...>> {
  using type = lowered_children_of<lowered<typename child_facts<X>::template type<C>>...>;
};
// The children of N as memory, in order.
template <class C, class N>
using lowered_children = typename lowered_list<C, children_t<N>>::type;

// The children from `First` on; from left to right, as braces say.
template <class C, std::size_t First, class Children, class Pass, class N>
[[gnu::always_inline]] inline Children read_children_from([[maybe_unused]] Pass& pass, const N& n) {
  constexpr std::size_t left = children_t<N>::size - First;
  if constexpr (left == 0) {
    return {};
  } else if constexpr (left == 1) {
    return {read_child<C>(pass, n, n.template child<First>())};
  } else if constexpr (left == 2) {
    return {read_child<C>(pass, n, n.template child<First>()), read_child<C>(pass, n, n.template child<First + 1>())};
  } else {
    return {read_child<C>(pass, n, n.template child<First>()), read_child<C>(pass, n, n.template child<First + 1>()),
            read_child<C>(pass, n, n.template child<First + 2>()),
            read_children_from<C, First + 3, decltype(Children::more)>(pass, n)};
  }
}
template <class C, class Pass, class N>
[[gnu::always_inline]] inline lowered_children<C, N> read_children(Pass& pass, const N& n) {
  return read_children_from<C, 0, lowered_children<C, N>>(pass, n);
}

// The loops over a node and its children.
template <class N, std::size_t... I, class Lowered>
[[gnu::always_inline]] inline auto child_nest(const axis* to, const Lowered& x, std::index_sequence<I...>) {
  return nest_of<axes_for<shape_of<N>>, child_axes<element_t<I, children_t<N>>>...>(to, child_in<I>(x)...);
}
template <class N, class Lowered>
[[gnu::always_inline]] inline auto child_nest(const axis* to, const Lowered& x) {
  return child_nest<N>(to, x, std::make_index_sequence<children_t<N>::size>{});
}

// An operand in memory, for operations that compute at once.
template <class C, class N>
lowered<compute_t<C, value_of<N>>> lower(const N& n) {
  evaluation_pass pass{current_context()};
  return read<C>(pass, n);
}

}  // namespace dimwise::detail
