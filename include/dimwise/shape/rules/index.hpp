// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/index.hpp -- the rules of at, slice, gather, concat and stack.
//
// Layer: shape.
//
//   at<D>: [D, rest] -> [rest], indexed<D>      slice<D>: [D, rest] -> [D, rest]
//   gather<D>: [D, rest] x ids [i] -> [i, rest]
//
// R1, R5, R10, R17, R18.
// Tests: tests/shape/rules/index.test.cpp, tests/compile_fail/index/
#pragma once

#include <dimwise/shape/rules/assign.hpp>
#include <dimwise/shape/rules/joins/join.hpp>
#include <dimwise/shape/rules/placed.hpp>
#include <dimwise/shape/rules/restride.hpp>
#include <dimwise/shape/verdict.hpp>

namespace dimwise {

/// An index into dimension D (R18).
template <class D>
struct id {
  using dimension_type = D;
  std::size_t value = 0;

  id() = default;
  /// The id of an element by its index.
  constexpr explicit id(std::size_t v) : value(v) {}
  [[nodiscard]] friend constexpr bool operator==(id, id) = default;
};

namespace detail {

template <class T>
inline constexpr bool is_id = false;
template <class D>
inline constexpr bool is_id<id<D>> = true;

template <class Op, class D, class Shape>
consteval auto judge_at() {
  using dims = dims_t<Shape>;
  if constexpr (!is_in<D, dims>) {
    return answer<missing_t<Op, list<D>, Shape>>{};
  } else if constexpr (is_composite<D>) {
    return answer<ERROR_R18_ids_of_a_composite_are_split_first<Op, over<about_t<D>>, operand_t<Shape>>>{};
  } else {
    using kept = typename marks_without<marks_t<Shape>, D>::type;
    return answer<accepted<make_shape_t<difference_t<dims, list<D>>, join_t<kept, list<indexed<D>>>>>>{};
  }
}

template <class D, class Result, class Shape>
consteval auto judge_slice() {
  using dims = dims_t<Shape>;
  if constexpr (!is_in<D, dims>) {
    return answer<missing_t<op::slice, list<D>, Shape>>{};
  } else if constexpr (is_composite<Result>) {
    return answer<
        ERROR_R18_slice_of_a_composite_names_a_plain_dimension<op::slice, over<about_t<D>>, operand_t<Shape>>>{};
  } else if constexpr (is_composite<D> && is_in<Result, atoms_t<D>>) {
    // A factor or part has its own elements: use `split` and `part`.
    return answer<ERROR_R4_composite_has_other_factors_or_order<op::slice, over<about_t<D>, about_t<Result>>,
                                                                operand_t<Shape>>>{};
  } else if constexpr (std::is_same_v<D, Result> && D::static_extent != at_run_time) {
    return answer<ERROR_R18_slice_of_a_static_extent_names_its_result<op::slice, over<about_t<D>>, operand_t<Shape>>>{};
  } else if constexpr (D::abilities != Result::abilities && !(is_composite<D> && D::abilities == ability::none)) {
    return answer<ERROR_R18_slice_has_another_kind<op::slice, over<about_t<D>, about_t<Result>>, operand_t<Shape>>>{};
  } else if constexpr (D::static_extent != at_run_time && Result::static_extent != at_run_time &&
                       Result::static_extent > D::static_extent) {
    return answer<
        ERROR_R18_slice_is_longer_than_its_dimension<op::slice, over<about_t<D>, about_t<Result>>, operand_t<Shape>>>{};
  } else {
    using result = replace_t<dims, D, list<Result>>;
    if constexpr (!all_distinct(axes_of_list_t<result>{})) {
      return answer<ERROR_R17_dimension_occurs_twice<op::slice, over<about_t<D>, about_t<Result>>, operand_t<Shape>>>{};
    } else {
      using cut = typename cut_marks<marks_t<Shape>, D>::type;
      return answer<accepted<make_shape_t<result, typename rename_marks<cut, D, Result>::type>>>{};
    }
  }
}

// R5: of logarithms of probabilities a row is taken by a condition, which leaves the dimension that they are normalised
// over, or an element along that dimension. Ids that share it take elements of several distributions side by side.
template <class D, class Over, class Ids>
inline constexpr bool gathers_beside_its_dimension = Over::size > 0 && is_disjoint<axes_t<D>, axes_of_list_t<Over>> &&
                                                     !is_disjoint<axes_of_list_t<Over>, axes_of_list_t<dims_t<Ids>>>;
// The marks that say so and end along D.
template <class D, class Marks>
struct logarithms_beside {
  template <class M>
  static constexpr bool stays =
      mark_order<M> == mark_order<log_normalised<>> && is_disjoint<axes_t<D>, axes_of_list_t<mark_dims_t<M>>>;
  template <class... M>
  static auto keep(list<M...>) -> join_t<list_if<stays<M>, M>...>;
  using type = decltype(keep(Marks{}));
};

template <class D, class IdDim, class Table, class Ids>
consteval auto judge_gather() {
  using table = dims_t<Table>;
  if constexpr (!is_in<D, table>) {
    return answer<missing_t<op::gather, list<D>, Table>>{};
  } else if constexpr (!std::is_same_v<D, IdDim>) {
    return answer<ERROR_R18_ids_index_their_own_dimension_only<op::gather, over<about_t<D>>, id<IdDim>, lhs_t<Table>,
                                                               rhs_t<Ids>>>{};
  } else if constexpr (indexed_meets<Table, Ids>) {
    return answer<
        ERROR_R18_single_element_meets_its_whole_dimension<op::gather, over<about_t<D>>, lhs_t<Table>, rhs_t<Ids>>>{};
  } else if constexpr (is_merged<D> && !is_in<D, dims_t<Ids>>) {
    return answer<
        ERROR_R18_ids_of_a_composite_are_split_first<op::gather, over<about_t<D>>, lhs_t<Table>, rhs_t<Ids>>>{};
  } else if constexpr (refuses_mark<op::gather, Table>) {
    return answer<refused_mark_t<op::gather, Table, over<about_t<D>>, lhs_t<Table>, rhs_t<Ids>>>{};
  } else if constexpr (gathers_beside_its_dimension<D, marked_t<log_normalised, marks_t<Table>>, Ids>) {
    using named = join_t<list<D>, marked_t<log_normalised, marks_t<Table>>>;
    return answer<ERROR_R5_log_probabilities_are_taken_along_their_own_dimension<op::gather, over_t<named>,
                                                                                 lhs_t<Table>, rhs_t<Ids>>>{};
  } else {
    // Dimensions that ids and table share are parallel, except D, which is that of the ids if they have it;
    // the ids' dimensions come first.
    using kept = join_t<kept_marks_t<op::gather, Table>, typename logarithms_beside<D, marks_t<Table>>::type>;
    using marks = typename either_t<is_in<D, dims_t<Ids>>, std::type_identity<kept>, marks_without<kept, D>>::type;
    using dims = union_t<dims_t<Ids>, difference_t<table, list<D>>>;
    if constexpr (!all_distinct(axes_of_list_t<dims>{})) {
      return answer<ERROR_R17_dimension_occurs_twice<op::gather, over<about_t<D>>, lhs_t<Table>, rhs_t<Ids>>>{};
    } else {
      return answer<accepted<make_shape_t<dims, join_t<marks, indexed_marks_t<Ids>>>>>{};
    }
  }
}

// The replacement of elements of D has all dimensions of the operand; that of one element lacks D.
template <class Op, class D, class Shape, class New>
consteval auto judge_replace_at() {
  using O = over<about_t<D>>;
  using dims = dims_t<Shape>;
  if constexpr (!is_in<D, dims>) {
    return answer<missing_t<Op, list<D>, Shape>>{};
  } else if constexpr (is_composite<D>) {
    return answer<ERROR_R18_ids_of_a_composite_are_split_first<Op, O, operand_t<Shape>>>{};
  } else {
    using whole = make_shape_t<dims, typename cut_marks<marks_t<Shape>, D>::type>;
    using one = make_shape_t<difference_t<dims, list<D>>, typename marks_without<marks_t<whole>, D>::type>;
    using part = either_t<is_in<D, dims_t<New>>, whole, one>;
    if constexpr (same_set<dims_t<part>, dims_t<New>> && same_set<marks_t<stored_t<part>>, marks_t<stored_t<New>>>) {
      return answer<accepted<whole>>{};
    } else {
      return answer<ERROR_R10_operands_differ_in_another_dimension<Op, O, operand_t<part>, operand_t<New>>>{};
    }
  }
}

}  // namespace detail

namespace rule {

// `Op` is the operation that the user called: `unstack` and `assign_at` have the rules of `at` and `replace_at`.
template <class D, class Shape, class Op = op::at>
using at = detail::on_ranks<Op, detail::of_one, detail::list<D>, decltype(detail::judge_at<Op, D, Shape>()), Shape>;
template <class D, class Result, class Shape>
using slice = detail::on_ranks<op::slice, detail::of_one, detail::list<D, Result>,
                               decltype(detail::judge_slice<D, Result, Shape>()), Shape>;
template <class D, class IdDim, class Table, class Ids>
using gather = detail::on_ranks<op::gather, detail::of_product, detail::list<D>,
                                decltype(detail::judge_gather<D, IdDim, Table, Ids>()), Table, Ids>;
template <class D, class... Shapes>
using concat = detail::on_ranks<op::concat, detail::of_sum, detail::list<D>,
                                decltype(detail::concat_judge<D>::template judge<Shapes...>()), Shapes...>;
template <class D, class... Shapes>
using stack = detail::on_ranks<op::stack, detail::of_sum, detail::list<>,
                               decltype(detail::judge_stack<D, sizeof...(Shapes), Shapes...>()), Shapes...>;
template <class D, class Shape>
using stack_of_vector = detail::on_ranks<op::stack, detail::of_one, detail::list<>,
                                         decltype(detail::judge_stack<D, at_run_time, Shape>()), Shape>;

template <class D, class Shape, class New, class Op = op::replace_at>
using replace_at = detail::on_ranks<Op, detail::of_sum, detail::list<D>,
                                    decltype(detail::judge_replace_at<Op, D, Shape, New>()), Shape, New>;

}  // namespace rule
}  // namespace dimwise
