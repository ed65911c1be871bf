// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/evaluate.hpp -- `tensor y = expr;`: where expressions become values.
//
// Layer: eval. The destination is written only after everything was checked and computed.
// Tests: tests/eval/*.test.cpp
#pragma once

#include <dimwise/eval/strategies.hpp>
#include <dimwise/eval/written/erased.hpp>
#if !defined(DIMWISE_PLAIN_ONLY)
#include <dimwise/eval/plan/static.hpp>
#endif

namespace dimwise {

namespace detail {

// Tensors and views that may be written: not constant ones.
template <class X>
inline constexpr bool is_written = is_tensor<X>;
template <class T, class... D>
inline constexpr bool is_written<tensor_view<T, D...>> = !std::is_const_v<T>;

// The destination's axes in the order of the expression, which may be another one.
template <class ResultAxes, class ExpressionAxes, class Extents>
[[gnu::always_inline]] inline void destination_axes(const Extents& result, axis* to) {
  if constexpr (std::is_same_v<ResultAxes, ExpressionAxes>) {
    axis_extents<ResultAxes>::write_contiguous(result, to);
  } else {
    axis own[max_rank];
    axis_extents<ResultAxes>::write_contiguous(result, own);
    for (std::size_t i = 0; i < ExpressionAxes::size; ++i) { to[i] = own[places<ExpressionAxes, ResultAxes>::at[i]]; }
  }
}

// Whether the compiler has planned the whole formula: the first of all strategies, where every extent is static.
template <class Y, class E>
[[gnu::always_inline]] inline bool planned_when_compiled([[maybe_unused]] context& cx, [[maybe_unused]] const E& value,
                                                         [[maybe_unused]] Y& fresh) {
#if !defined(DIMWISE_PLAIN_ONLY)
  if constexpr (static_assignment<Y, E>::known) {
    if (cx.reference_forced()) { return false; }
    static_assignment<Y, E>::plan::run(cx, value, fresh.overwrite());
    return true;
  }
#endif
  return false;
}

}  // namespace detail

/// Computes `value` into `fresh`, a tensor that was just made with its extents.
template <class T, class... D, operand E>
[[gnu::always_inline]] inline void compute_value(tensor<T, D...>& fresh, const E& value) {
  using Y = tensor<T, D...>;
  context& cx = current_context();
  if (!detail::planned_when_compiled<Y>(cx, value, fresh)) {
    detail::axis to[detail::max_rank];
    detail::destination_axes<typename Y::axes, detail::axes_for<detail::shape_of<E>>>(fresh.extents(), to);
    detail::evaluation_pass pass{cx};
    using in = typename detail::compute_in<T, E>::type;
    [[maybe_unused]] const detail::values_read_by<in, detail::evaluation_pass, E> once(pass, value);
    detail::write<in>(pass, value, {fresh.fresh_elements(), to});
  }
}

/// Computes `value` into the memory of a view; throws `extent_error` where extents differ (R15).
template <class T, class... D, operand E>
void assign_value(tensor_view<T, D...>& y, const E& value) {
  using Y = tensor_view<T, D...>;
  (void)detail::merge_extents<typename Y::extents_type::atoms>("assign", y.extents(), value.extents());
  // Computed aside first: the view's memory may be an operand's, and nothing is half-written when something throws.
  const tensor<T, D...> fresh(value);
  detail::axis from[detail::max_rank];
  const T* data = detail::read_leaf(fresh, from);
  detail::copy_axes<T>(Y::rank, from, y.layout().data(), from, y.data(), data);
}

namespace no_adl {

/// The value of an expression as a tensor of its own dimensions and marks.
template <operand E>
[[nodiscard]] auto evaluate(const E& value) {
  return tensor(value);
}

/// The same in a context: its executor works, its counters count.
template <operand E>
[[nodiscard]] auto evaluate(const E& value, context& cx) {
  const use_context scope(cx);
  return tensor(value);
}

/// The same with the threads of an executor, which has `worker_count()` and `parallel_for(count, f(task, worker))`.
/// The result is the same to the last bit for every executor.
template <operand E, kernels::Executor X>
[[nodiscard]] auto evaluate(const E& value, X& executor) {
  context& outer = current_context();
  context threads(executor);
  threads.force_reference(outer.reference_forced());
  const use_context scope(threads);
  auto result = tensor(value);
  outer.count(threads.counts());
  return result;
}
DIMWISE_DETAIL_MISUSED(evaluate)

/// The same by the reference loops alone, in the element type.
template <operand E>
[[nodiscard]] auto evaluate_plainly(const E& value) {
  const plain_loops only;
  return tensor(value);
}

}  // namespace no_adl

namespace detail {

template <class T, class U, class... D>
auto reference_of(const stored_as<U, D...>&, const auto& e) {
  return tensor<T, D...>(e);
}

}  // namespace detail

namespace no_adl {

/// The value of an expression computed in float64 throughout, by the reference loops.
template <expression E>
  requires real_element<detail::value_of<E>>
[[nodiscard]] auto reference(const E& value) {
  const plain_loops only;
  return detail::reference_of<double>(value, value);
}
DIMWISE_DETAIL_MISUSED(reference)

}  // namespace no_adl

}  // namespace dimwise
