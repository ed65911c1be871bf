// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/compound.hpp -- compound assignment (`x += y` and others) to tensors and views, in the memory of x.
//
// Layer: eval. The rules are those of the operator and of assignment: the result has x's dimensions and marks. Whatever
// may throw comes before the first change. A tensor whose memory is shared, with a copy or with an expression that
// reads it, takes memory of its own; else it stays where it is.
// Tests: tests/eval/compound.test.cpp, tests/compile_fail/assign/
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/expr/elements/elementwise.hpp>

namespace dimwise {

namespace detail {

// The verdict of the operator, then that of the assignment.
template <class X, class E, class Computed>
consteval auto judge_compound() {
  if constexpr (refused<Computed>) {
    return answer<Computed>{};
  } else if constexpr (refused<rule::assign<shape_of<X>, typename Computed::shape>>) {
    return answer<rule::assign<shape_of<X>, typename Computed::shape>>{};
  } else if constexpr (!fits<value_of<X>, promoted_t<X, E>>) {
    return answer<elements_error<value_of<X>, promoted_t<X, E>, op::assign, operand_t<typename Computed::shape>>>{};
  } else {
    return answer<Computed>{};
  }
}
template <class X, class E, class Computed>
using compound_verdict = typename decltype(judge_compound<X, E, Computed>())::type;

// Masked elements stay masked: the evaluator knows them, plain arithmetic with −∞ does not.
template <class E>
inline constexpr bool holds_masked = false;
template <operand E>
inline constexpr bool holds_masked<E> = is_masked<E>;

// A recorded value is stored anew: the origin of the former value is still to be differentiated.
template <class F, class Verdict, class T, class... D, class E>
void change(tensor<T, D...>& x, const E& y) {
  using axes = typename tensor<T, D...>::axes;
  if constexpr (holds_masked<tensor<T, D...>> || holds_masked<E> || is_tracked_type<T>) {
    x = make_binary<F, tensor<T, D...>, E, Verdict>(x, y);
  } else if constexpr (number<E>) {
    const T by = static_cast<T>(y);
    T* const to = x.overwrite();
    const std::size_t n = x.size();
    for (std::size_t i = 0; i < n; ++i) { to[i] = static_cast<T>(F{}(to[i], by)); }
  } else if constexpr (!is_tensor<E>) {
    (void)merge_extents<typename tensor<T, D...>::extents_type::atoms>(F::name, x.extents(), y.extents());
    const dimwise::tensor value(y);  // computed aside: it may read x's memory through a view
    change<F, Verdict>(x, value);
  } else {
    (void)merge_extents<typename tensor<T, D...>::extents_type::atoms>(F::name, x.extents(), y.extents());
    axis own[max_rank];
    axis_extents<axes>::write_contiguous(x.extents(), own);
    axis other[max_rank];
    T* const to = x.overwrite();
    const auto* const from = read_leaf(y, other);  // after x has memory of its own: y may be x
    std::ptrdiff_t strides[2][max_rank] = {};
    for (std::size_t i = 0; i < axes::size; ++i) { strides[0][i] = own[i].stride; }
    align<axes, axes_for<shape_of<E>>>(other, strides[1]);
    kernels::for_each_element(nest_over(axes::size, own, strides), [&](std::ptrdiff_t t, std::ptrdiff_t f) {
      to[t] = static_cast<T>(F{}(to[t], static_cast<T>(from[f])));
    });
  }
}
template <class F, class Verdict, class T, class... D, class E>
void change(tensor_view<T, D...>& x, const E& y) {
  assign_value(x, make_binary<F, tensor_view<T, D...>, E, Verdict>(x, y));
}

}  // namespace detail

/// `x = x + y`, and likewise for the other operators, of tensors and mutable views: x keeps its dimensions and marks
/// (R8, R3, R5, R6, R7, R9), its elements their type (R13), and, unless it is shared, its memory. A throw leaves x as
/// it was. A tracked x is stored anew, and its origin is recorded.
#define DIMWISE_DETAIL_UPDATE(symbol, function, verdict)                                     \
  template <class X, class E, class To = std::remove_reference_t<X>,                         \
            class = std::enable_if_t<detail::is_written<To> && detail::operand_pair<To, E>>, \
            class Verdict = detail::compound_verdict<To, E, detail::verdict<To, E>>>         \
    requires allowed<Verdict>                                                                \
  To& operator symbol(X && x, const E & y) {                                                 \
    detail::change<fn::function, Verdict>(x, y);                                             \
    return x;                                                                                \
  }                                                                                          \
  template <class X, class E, class To = std::remove_reference_t<X>,                         \
            class = std::enable_if_t<detail::is_written<To> && detail::operand_pair<To, E>>, \
            class Verdict = detail::compound_verdict<To, E, detail::verdict<To, E>>>         \
    requires refused<Verdict>                                                                \
  Verdict operator symbol(X&& x, const E& y);
DIMWISE_DETAIL_UPDATE(+=, add, sum_verdict)
DIMWISE_DETAIL_UPDATE(-=, subtract, sum_verdict)
DIMWISE_DETAIL_UPDATE(*=, multiply, product_verdict)
DIMWISE_DETAIL_UPDATE(/=, divide, division_verdict)
#undef DIMWISE_DETAIL_UPDATE

}  // namespace dimwise
