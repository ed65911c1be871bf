// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/marks_table.hpp -- the one place that says what every operation does with every mark.
//
// Layer: shape. The rules read it, and the table of docs/reference/marks.md is printed from it.
// Tests: tests/shape/marks.test.cpp; every `refuse` has a case in tests/compile_fail.
#pragma once

#include <dimwise/shape/marks_table/row.hpp>
#include <dimwise/shape/marks_table/rows.hpp>

namespace dimwise::detail {

template <class Mark>
consteval effect effect_in(const mark_row& row) {
  constexpr effect mark_row::* columns[] = {
      &mark_row::raw,        &mark_row::score,    &mark_row::masked_for,     &mark_row::biased_for,
      &mark_row::normalised, &mark_row::weighted, &mark_row::log_normalised, &mark_row::rotated,
      &mark_row::indexed,    &mark_row::partial};
  return row.*columns[mark_order<Mark>];
}

template <class Mark>
struct weakened {
  using type = list<Mark>;
};
template <class... D>
struct weakened<normalised<D...>> {
  using type = list<weighted<D...>>;
};

// The marks that the result has by the table, and the first mark that the operation rejects (void where none).
template <class Op, class Marks>
struct effects {
  using kept = list<>;
  using refused = void;
};
template <class Op, class... M>
  requires(sizeof...(M) > 0)
struct effects<Op, list<M...>> {
  template <class Mark>
  static constexpr effect of = effect_in<Mark>(marks_row<Op>);
  using kept =
      join_t<typename either_t<of<M> == weaken, weakened<M>, std::type_identity<list_if<of<M> == keep, M>>>::type...>;
  template <class... R>
  static auto first(list<R...>) -> element_t<0, list<R..., void>>;
  using refused = decltype(first(join_t<list_if<of<M> == refuse, M>...>{}));
};
template <class Op, class Shape>
using kept_marks_t = typename effects<Op, marks_t<Shape>>::kept;

}  // namespace dimwise::detail
