// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/evaluate.hpp -- `tensor y = expr;`: where expressions become values.
//
// Layer: eval. The destination is written only after everything was checked and computed.
// Tests: tests/eval/*.test.cpp
#pragma once

#include <dimwise/eval/compute.hpp>

namespace dimwise {

namespace detail {

// The destination's strides along the axes of the expression, which may stand in another order.
template <class ResultAxes, class ExpressionAxes, class Extents>
void destination_axes(const Extents& e, const axis* result, axis* to) {
  axis_extents<ExpressionAxes>::write(e, to);
  std::ptrdiff_t strides[max_rank] = {};
  align<ExpressionAxes, ResultAxes>(result, strides);
  for (std::size_t i = 0; i < ExpressionAxes::size; ++i) { to[i].stride = strides[i]; }
}

}  // namespace detail

/// Computes `value` into `y`, a tensor: a new buffer is filled and then taken, so that a throw leaves `y` as it was.
template <class T, class... D, operand E>
void assign_value(tensor<T, D...>& y, const E& value) {
  using Y = tensor<T, D...>;
  using axes = typename Y::axes;
  auto fresh = Y::for_overwriting(detail::carry<typename Y::extents_type::atoms>("assign", value.extents()));
#if !defined(DIMWISE_PLAIN_ONLY)
  if constexpr (detail::static_assignment<Y, E>::known) {
    if (!detail::plainly) {
      detail::static_assignment<Y, E>::plan::run(value, fresh.overwrite());
      y = static_cast<Y&&>(fresh);
      return;
    }
  }
#endif
  detail::axis own[detail::max_rank];
  detail::axis_extents<axes>::write(fresh.extents(), own);
  detail::make_contiguous(own, axes::size);
  detail::axis to[detail::max_rank];
  detail::destination_axes<axes, detail::axes_for<detail::shape_of<E>>>(value.extents(), own, to);
  detail::compute_into<typename detail::compute_in<T, E>::type>(value, {fresh.overwrite(), to});
  y = static_cast<Y&&>(fresh);
}

/// Computes `value` into the memory of a view; throws `extent_error` where extents differ (R15).
template <class T, class... D, operand E>
void assign_value(tensor_view<T, D...>& y, const E& value) {
  using Y = tensor_view<T, D...>;
  (void)detail::carry<typename Y::extents_type::atoms>("assign", y.extents(), value.extents());
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

/// The same with the threads of an executor, which has `worker_count()` and `parallel_for(count, f(task, worker))`.
/// The result is the same to the last bit for every executor.
template <operand E, kernels::Executor X>
[[nodiscard]] auto evaluate(const E& value, X& executor) {
  const detail::running_with threads(detail::runner_for(executor));
  return tensor(value);
}

/// The same by the plain loops alone, in the element type.
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

/// The value of an expression computed in float64 throughout, by the plain evaluator: the reference.
template <expression E>
  requires std::is_floating_point_v<detail::value_of<E>>
[[nodiscard]] auto reference(const E& value) {
  return detail::reference_of<double>(value, value);
}

}  // namespace no_adl

}  // namespace dimwise
