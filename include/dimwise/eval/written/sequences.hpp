// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/written/sequences.hpp -- unstack and assign_at: the elements of a dimension as a vector, and written in
// place.
//
// Layer: eval.
// Tests: tests/eval/written/sequences.test.cpp, tests/compile_fail/index/
#pragma once

#include <dimwise/eval/written/expr.hpp>
#include <dimwise/expr/rearrange/replace.hpp>
#include <dimwise/expr/rearrange/take.hpp>

#include <vector>

namespace dimwise {

namespace detail {

template <class D, operand X>
using unstacked_verdict = rule::at<D, shape_of<X>, op::unstack>;

// Whether elements of D can be written in place: the marks stay as they are.
template <class D, class Shape, class Part>
consteval auto judge_assign_at() {
  using verdict = rule::replace_at<D, Shape, Part, op::assign_at>;
  if constexpr (refused<verdict>) {
    return answer<verdict>{};
  } else {
    return answer<rule::assign<Shape, typename verdict::shape, op::assign_at>>{};
  }
}
template <class D, class X, class Part>
using assign_at_verdict = typename decltype(judge_assign_at<D, shape_of<X>, shape_of<Part>>())::type;

// The elements of `part` into those of a tensor with these axes, from element `first` of D on.
template <class D, class Shape, class T, class... P>
void write_part(T* to, const axis* axes, std::size_t first, const tensor<T, P...>& part) {
  using own = axes_for<shape<P...>>;
  axis from[max_rank];
  const T* const data = read_leaf(part, from);
  axis at[max_rank];
  std::ptrdiff_t strides[max_rank] = {};
  align<own, axes_for<Shape>>(axes, strides);
  for (std::size_t i = 0; i < own::size; ++i) { at[i] = {from[i].extent, strides[i]}; }
  copy_axes<T>(own::size, from, at, from, to + times(axes[index_in<D, axes_for<Shape>>].stride, first), data);
}

template <class D, class T, class... DimsAndMarks, class Place, class Part>
void assign_part(tensor<T, DimsAndMarks...>& x, Place place, const Part& part) {
  if constexpr (is_tracked_type<T>) {
    x = no_adl::replace_at<D>(x, place, part);
  } else {
    const std::size_t first = place_number<D>("assign_at", place, x.extents().template extent<D>());
    check_place<D>("assign_at", x, part, first);
    const tensor_of<T, stored_t<shape_of<Part>>> value(part);
    axis axes[max_rank];
    axis_extents<typename tensor<T, DimsAndMarks...>::axes>::write_contiguous(x.extents(), axes);
    write_part<D, shape<DimsAndMarks...>>(x.overwrite(), axes, first, value);
  }
}
template <class D, class T, class... DimsAndMarks, class Place, class Part>
void assign_part(const tensor_view<T, DimsAndMarks...>& x, Place place, const Part& part) {
  const std::size_t first = place_number<D>("assign_at", place, x.extents().template extent<D>());
  check_place<D>("assign_at", x, part, first);
  const tensor_of<T, stored_t<shape_of<Part>>> value(part);
  write_part<D, shape<DimsAndMarks...>>(x.data(), x.layout().data(), first, value);
}

}  // namespace detail

namespace no_adl {

/// The elements of `x` along D, each without D: `[D, rest] -> std::vector of [rest]`. An expression is computed once,
/// here; the elements read its value. `stack<D>` is the inverse.
template <class D, operand X, class Verdict = detail::unstacked_verdict<D, X>>
  requires allowed<Verdict>
[[nodiscard]] auto unstack(const X& x) {
  using element = expr<detail::value_of<X>, detail::stored_t<typename Verdict::shape>>;
  const auto value = [&] {
    if constexpr (expression<X>) {
      return tensor(x);
    } else {
      return x;
    }
  }();
  std::vector<element> all;
  const extent_t n = value.extents().template extent<D>();
  all.reserve(n);
  for (std::size_t i = 0; i < n; ++i) { all.push_back(element(at<D>(value, i))); }
  return all;
}
template <class D, operand X, class Verdict = detail::unstacked_verdict<D, X>>
  requires refused<Verdict>
Verdict unstack(const X& x);
DIMWISE_DETAIL_MISUSED(unstack)

/// Writes elements of a tensor, or of the memory of a view, along D from the i-th on: `part` lacks D (one element) or
/// has it. A tensor that shares its elements copies them first. A tracked tensor becomes `replace_at<D>(x, i, part)`,
/// so gradients go through it. Throws what `replace_at` throws, and writes nothing then.
template <class D, class X, class Place, operand Part, class Verdict = detail::assign_at_verdict<D, X, Part>>
  requires(detail::is_written<X> && allowed<Verdict> && detail::fits<detail::value_of<X>, detail::value_of<Part>> &&
           (std::integral<Place> || std::is_same_v<Place, id<D>>))
void assign_at(X& x, Place i, const Part& part) {
  detail::assign_part<D>(x, i, part);
}
template <class D, class X, class Place, operand Part, class Verdict = detail::assign_at_verdict<D, X, Part>>
  requires(detail::is_written<X> && refused<Verdict>)
Verdict assign_at(X& x, Place i, const Part& part);
template <class D, class X, class Place, operand Part,
          class Error = detail::operand_elements_error<detail::value_of<X>, Part, op::assign_at>>
  requires(detail::is_written<X> && allowed<detail::assign_at_verdict<D, X, Part>> &&
           !detail::fits<detail::value_of<X>, detail::value_of<Part>>)
Error assign_at(X& x, Place i, const Part& part);
DIMWISE_DETAIL_MISUSED(assign_at)

}  // namespace no_adl

}  // namespace dimwise
