// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/rows/sort.hpp -- sort and argsort: the elements of a dimension in ascending or descending order, and
// their ids.
//
// Layer: expr.
//
//   gather<seq>(x, argsort<seq>(x))        // sort<seq>(x)
//
// Tests: tests/expr/rows/sort.test.cpp, tests/compile_fail/index/
#pragma once

#include <dimwise/expr/rows/reduce.hpp>
#include <dimwise/shape/rules/reorder.hpp>

namespace dimwise {

/// Passed to `sort` and `argsort`: the largest element first.
struct descending {};

namespace detail {

namespace rows {
template <bool Descending>
struct sort {
  static constexpr const char* name = Descending ? "descending sort" : "sort";
  static constexpr backward_reads backward = backward_reads::operand;
};
}  // namespace rows
template <class How>
inline constexpr bool is_sort = is_any_of<How, rows::sort<false>, rows::sort<true>>;

// The ids of the elements of D in the order of their values.
template <class D, bool Descending>
struct sorted_ids {
  static constexpr const char* name = Descending ? "descending argsort" : "argsort";
  using over = list<D>;
};
template <class Shape, class D, bool Descending, class E>
using sorted_ids_node = node<sorted_ids<D, Descending>, Shape, id<D>, E>;

namespace calls {

// Both call forms; `Judged<D, Shape>` is the verdict.
template <class Op, template <class, class> class Judged>
struct sort_word : over_dimensions<Op> {
  using over_dimensions<Op>::judge;
  template <class D, operand X>
  static auto judge(list<D>, const X&) -> of_numbers<Op, Judged<D, shape_of<X>>, X>;
  template <class D, operand X>
  static auto judge(list<D>, const X&, descending) -> of_numbers<Op, Judged<D, shape_of<X>>, X>;
};
struct sort : sort_word<op::sort, rule::sort> {
  template <class Verdict, class D, operand X>
  static auto make(list<D>, const X& x) {
    return make_rows<typename Verdict::shape, rows::sort<false>, list<D>>(x);
  }
  template <class Verdict, class D, operand X>
  static auto make(list<D>, const X& x, descending) {
    return make_rows<typename Verdict::shape, rows::sort<true>, list<D>>(x);
  }
};
struct argsort : sort_word<op::argsort, rule::argsort> {
  template <class Verdict, class D, operand X>
  static auto make(list<D>, const X& x) {
    return ids<Verdict, D, false>(x);
  }
  template <class Verdict, class D, operand X>
  static auto make(list<D>, const X& x, descending) {
    return ids<Verdict, D, true>(x);
  }

 private:
  // Ids have no derivative: the node holds plain elements.
  template <class Verdict, class D, bool Descending, class X>
  static auto ids(const X& x) {
    return make_node<typename Verdict::shape, id<D>>(sorted_ids<D, Descending>{}, x.extents(), untracked_of(x));
  }
};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// The elements along D in ascending order, or in descending order with `descending{}`. Equal elements keep their
/// order. NaN counts as the largest element: last in ascending order, as in NumPy.
///
///   sort<D>(x), sort<D>(x, descending{}):  [D, rest]  ->  [D, rest]
///
/// The result is called D as before, although its elements have changed places: `relabel` names ranks. Rejects masked
/// operands (R7), packed positions (R19), and alternatives by weights over positions (R5).
DIMWISE_DETAIL_OPERATION(sort)

/// The ids of the elements along D in the order in which `sort` puts them: `gather<D>(y, argsort<D>(x))` sorts y by x.
///
///   argsort<D>(x), argsort<D>(x, descending{}):  [D, rest]  ->  [D, rest], elements id<D>
///
/// Rejects what `sort` rejects.
DIMWISE_DETAIL_OPERATION(argsort)

}  // namespace no_adl

}  // namespace dimwise
