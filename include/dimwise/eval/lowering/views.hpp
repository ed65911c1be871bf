// SPDX-License-Identifier: BSL-1.0
// dimwise/eval/lowering/views.hpp -- what each view does to a layout: other names, another order, parts, windows.
//
// Layer: eval. `take_step` changes the axes of the operand to those of the view and the offset of the first element; no
// element is read.
// Tests: tests/expr/rearrange/restride.test.cpp, tests/expr/masks/window.test.cpp
#pragma once

#include <dimwise/eval/lowering/layout.hpp>
#include <dimwise/expr/rearrange/take.hpp>
#include <dimwise/expr/rearrange/window.hpp>
#include <dimwise/support/library.hpp>

namespace dimwise::detail {

// The effect of a view on the axes of its operand; `marks` has none.
enum class view_kind : unsigned char { marks, rename, regroup, broadcast, part, diagonal, at, slice, unroll, pool };
// The same without names: where the axes are that change.
struct view_facts {
  view_kind kind;
  std::size_t first = 0;      // of the axes of the dimension that changes
  std::size_t second = 0;     // the other one of a diagonal
  std::size_t old_count = 1;  // axes of that dimension
  std::size_t new_count = 1;
  std::size_t by = 1;  // windows begin as many elements apart
  bool joins = false;  // several axes become one: they must follow each other in memory
};

// Where `D`'s axes begin among the axes of some dimensions.
template <class D, class... Dims>
consteval std::size_t first_axis(list<Dims...>) {
  std::size_t at = 0;
  (void)((std::is_same_v<D, Dims> || (at += axes_of<Dims>::type::size, false)) || ...);
  return at;
}
// Elements before part P in a sum.
template <class P, class Extents, class... Parts>
extent_t elements_before(const Extents& e, list<Parts...>) {
  extent_t before = 0;
  (void)((std::is_same_v<P, Parts> || (before += e.template extent<Parts>(), false)) || ...);
  return before;
}
template <class Whole>
struct parts_of;
template <class... P>
struct parts_of<summed<P...>> {
  using type = list<P...>;
};

// The facts of each view of an operand with the dimensions `Dims`.
template <class How, class Dims>
struct facts_of_view;
template <class D, class Dims>
inline constexpr std::size_t axes_before = first_axis<D>(Dims{});
template <class D>
inline constexpr std::size_t axis_count = axes_of<D>::type::size;

template <class Dims>
struct facts_of_view<views::marks, Dims> {
  static constexpr view_facts value{view_kind::marks};
};
template <class Dims>
struct facts_of_view<views::regroup, Dims> {
  static constexpr view_facts value{view_kind::regroup};
};
template <class Dims>
struct facts_of_view<views::broadcast, Dims> {
  static constexpr view_facts value{view_kind::broadcast};
};
template <class From, class To, class Dims>
struct facts_of_view<views::rename<From, To>, Dims> {
  static constexpr view_facts value{.kind = view_kind::rename,
                                    .first = axes_before<From, Dims>,
                                    .old_count = axis_count<From>,
                                    .new_count = axis_count<To>,
                                    .joins = axis_count<From> > 1};
};
template <class Whole, class P, class Dims>
struct facts_of_view<views::part<Whole, P>, Dims> {
  static constexpr view_facts value{
      .kind = view_kind::part, .first = axes_before<Whole, Dims>, .new_count = axis_count<P>};
};
template <class A, class B, class Dims>
struct facts_of_view<views::diagonal<A, B>, Dims> {
  static constexpr view_facts value{
      .kind = view_kind::diagonal, .first = axes_before<A, Dims>, .second = axes_before<B, Dims>};
};
template <class D, class Dims>
struct facts_of_view<views::at<D>, Dims> {
  static constexpr view_facts value{.kind = view_kind::at, .first = axes_before<D, Dims>};
};
template <class D, class R, class Dims>
struct facts_of_view<views::slice<D, R>, Dims> {
  static constexpr view_facts value{
      .kind = view_kind::slice, .first = axes_before<D, Dims>, .old_count = axis_count<D>, .joins = axis_count<D> > 1};
};
template <class D, class W, class R, class Dims>
struct facts_of_view<views::unroll<D, W, R>, Dims> {
  static constexpr view_facts value{.kind = view_kind::unroll, .first = axes_before<D, Dims>};
};
template <class D, class W, class R, std::size_t By, class Dims>
struct facts_of_view<views::unroll_by<D, W, R, By>, Dims> {
  static constexpr view_facts value{.kind = view_kind::unroll, .first = axes_before<D, Dims>, .by = By};
};
template <class D, class W, class R, class Dims>
struct facts_of_view<views::pool<D, W, R>, Dims> {
  static constexpr view_facts value{.kind = view_kind::pool, .first = axes_before<D, Dims>};
};

// The number that a view brings along when the program runs: an index, or how many elements are before a part.
template <class How, class Extents>
[[gnu::always_inline]] inline std::size_t index_of_view(const How& how, [[maybe_unused]] const Extents& whole) {
  if constexpr (requires { how.index; }) {
    return how.index;
  } else if constexpr (requires { how.first; }) {
    return how.first;
  } else {
    return 0;
  }
}
template <class Whole, class P, class Extents>
[[gnu::always_inline]] inline std::size_t index_of_view(const views::part<Whole, P>&, const Extents& whole) {
  return elements_before<P>(whole, typename parts_of<Whole>::type{});
}

// Changes the axes `from` of an operand to the axes `to` of a view, whose extents are those of `result`.
DIMWISE_DETAIL_LIBRARY void take_step(operand_layout& x, const view_facts& view, std::size_t index, name_list from,
                                      name_list to, const axis* result);

// The same of a node: E is the operand, `whole` are its extents.
template <class E, class ViewAxes, class How, class Whole, class Extents>
[[gnu::always_inline]] inline void step(operand_layout& x, const How& how, const Whole& whole, const Extents& e) {
  axis result[max_rank];
  axis_extents<ViewAxes>::write(e, result);
  take_step(x, facts_of_view<How, dims_t<shape_of<E>>>::value, index_of_view(how, whole),
            name_list_of<axes_for<shape_of<E>>>, name_list_of<ViewAxes>, result);
}

// Whether axes become one that do not follow each other: the operand is copied first.
inline bool needs_dense(const view_facts& view, const axis* axes) {
  return view.joins && !follow_each_other(axes + view.first, view.old_count);
}

// A view of `x`, in place; the operand is copied first where the axes that the view joins do not follow each other.
template <class T, class Shape, class How, class E>
void take_view(lowered<T>& x, const restride<Shape, How, E>& n) {
  if (needs_dense(facts_of_view<How, dims_t<shape_of<E>>>::value, x.axes)) { make_dense<T, axes_for<shape_of<E>>>(x); }
  step<E, axes_for<Shape>>(x, n.op().how, n.template child<0>().extents(), n.extents());
  x.move_to_first();
}

}  // namespace dimwise::detail

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/eval/lowering/views_definitions.hpp>
#endif
