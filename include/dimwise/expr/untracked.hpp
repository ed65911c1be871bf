// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/untracked.hpp -- the same expression over plain elements: the values that gradients read.
//
// Layer: expr. Tracking is part of the element type alone, so the same nodes over untracked leaves match the same
// kernels.
// Tests: tests/grad/tracked.test.cpp
#pragma once

#include <dimwise/expr/node.hpp>

namespace dimwise::detail {

template <class X>
struct untracked_operand {
  [[gnu::always_inline]] static const X& of(const X& x) { return x; }
};

// The expression over the plain elements; x itself where nothing is tracked.
template <class X>
[[gnu::always_inline]] inline decltype(auto) untracked_of(const X& x) {
  return untracked_operand<X>::of(x);
}
template <class X>
using untracked_type = std::remove_cvref_t<decltype(untracked_of(std::declval<const X&>()))>;

template <class T, class... D>
struct untracked_operand<tensor<tracked<T>, D...>> {
  [[gnu::always_inline]] static const tensor<T, D...>& of(const tensor<tracked<T>, D...>& x) { return x.value(); }
};
template <class Op, class Shape, class T, class... X>
struct untracked_operand<node<Op, Shape, tracked<T>, X...>> {
  static auto of(const node<Op, Shape, tracked<T>, X...>& n) { return of(n, std::index_sequence_for<X...>{}); }

 private:
  template <std::size_t... I>
  [[gnu::always_inline]] static auto of(const node<Op, Shape, tracked<T>, X...>& n, std::index_sequence<I...>) {
    return node<Op, Shape, T, untracked_type<X>...>(n.op(), n.extents(), untracked_of(n.template child<I>())...);
  }
};

// Whether a child's elements have an origin: then it gets a gradient.
template <class X>
inline constexpr bool is_tracked = false;
template <operand X>
inline constexpr bool is_tracked<X> = is_tracked_type<value_of<X>>;
template <class X>
  requires requires { typename X::table_type; }
inline constexpr bool is_tracked<X> = is_tracked<typename X::table_type>;

// The verdict on an operation that takes constants alone.
template <class Op, class Verdict, class... X>
consteval auto judge_untracked() {
  if constexpr (allowed<Verdict> && (is_tracked<X> || ...)) {
    return answer<ERROR_R21_operation_has_no_gradient<Op, operand_t<shape_of<X>>...>>{};
  } else {
    return answer<Verdict>{};
  }
}
template <class Op, class Verdict, class... X>
using of_constants = typename decltype(judge_untracked<Op, Verdict, X...>())::type;

// Sends `g`, which arrived at the value of `n`, to the tracked leaves of `n` (grad/operations/adjoint.hpp).
template <class N, class G>
[[gnu::always_inline]] inline void send_gradient(const N& n, const G& g);

}  // namespace dimwise::detail
