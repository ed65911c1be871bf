// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/reorder.hpp -- the rules of roll, flip, sort, argsort, one_hot and scatter_add.
//
// Layer: shape.
//
//   roll<D>, sort<D>: [D, rest] -> [D, rest]       one_hot<D>: ids [i] -> [i, D]
//   scatter_add<D, s>: [i, s, rest] x ids [i, s] -> [D, i, rest]
//
// R1, R5, R7, R17, R18, R19.
// Tests: tests/shape/rules/reorder.test.cpp, tests/compile_fail/index/
#pragma once

#include <dimwise/shape/rules/index.hpp>
#include <dimwise/shape/rules/placed.hpp>
#include <dimwise/shape/rules/reduce.hpp>

namespace dimwise {

namespace detail {

// Reordering would move elements between documents: rejects packed positions, also as a factor or part.
template <class Op, class D, class Shape>
consteval auto judge_reorder() {
  using naming = naming_objection_t<Op, list<D>, Shape>;
  if constexpr (!std::is_same_v<naming, nothing>) {
    return answer<naming>{};
  } else if constexpr (filter<atoms_of_list_t<list<D>>>::packed > 0) {
    return answer<ERROR_R19_packed_positions_need_their_documents<Op, over<about_t<D>>, operand_t<Shape>>>{};
  } else {
    return answer<accepted<make_shape_t<dims_t<Shape>, kept_marks_t<Op, Shape>>>>{};
  }
}

// An order by value compares elements: those that a mask hides are not compared, nor are those of several documents.
template <class Op, class D, class Shape>
consteval auto judge_sort() {
  using objection = objection_t<Op, list<D>, Shape>;
  if constexpr (!std::is_same_v<objection, nothing>) {
    return answer<objection>{};
  } else if constexpr (chooses_by_positions<list<D>, Shape>()) {
    return answer<ERROR_R5_alternatives_are_chosen_by_weights_over_positions<Op, over<about_t<D>>, operand_t<Shape>>>{};
  } else {
    return answer<accepted<make_shape_t<dims_t<Shape>, kept_marks_t<Op, Shape>>>>{};
  }
}

template <class D, class IdDim, class Ids>
consteval auto judge_one_hot() {
  using O = over<about_t<D>>;
  if constexpr (!std::is_same_v<D, IdDim>) {
    return answer<ERROR_R18_ids_index_their_own_dimension_only<op::one_hot, O, id<IdDim>, operand_t<Ids>>>{};
  } else if constexpr (is_composite<D>) {
    return answer<ERROR_R18_ids_of_a_composite_are_split_first<op::one_hot, O, operand_t<Ids>>>{};
  } else {
    using dims = join_t<dims_t<Ids>, list<D>>;
    if constexpr (!all_distinct(axes_of_list_t<dims>{})) {
      return answer<ERROR_R17_dimension_occurs_twice<op::one_hot, O, operand_t<Ids>>>{};
    } else {
      return answer<accepted<make_shape_t<dims, typename without_indexed<marks_t<Ids>, D>::type>>>{};
    }
  }
}

// Dimensions that ids and values share are parallel, as in `gather`, except D and the dimensions `Named`, which are
// summed; D comes first.
template <class D, class IdDim, class Named, class Values, class Ids>
consteval auto judge_scatter_add() {
  using O = over<about_t<D>>;
  using summed = intersection_t<dims_t<Ids>, join_t<list<D>, Named>>;
  using naming = naming_objection_t<op::scatter_add, Named, Ids>;
  using missing = difference_t<dims_t<Ids>, dims_t<Values>>;
  if constexpr (!std::is_same_v<D, IdDim>) {
    return answer<
        ERROR_R18_ids_index_their_own_dimension_only<op::scatter_add, O, id<IdDim>, lhs_t<Values>, rhs_t<Ids>>>{};
  } else if constexpr (is_merged<D> && !is_in<D, summed>) {
    return answer<ERROR_R18_ids_of_a_composite_are_split_first<op::scatter_add, O, lhs_t<Values>, rhs_t<Ids>>>{};
  } else if constexpr (indexed_meets<Values, Ids>) {
    return answer<ERROR_R18_single_element_meets_its_whole_dimension<op::scatter_add, O, lhs_t<Values>, rhs_t<Ids>>>{};
  } else if constexpr (!std::is_same_v<naming, nothing>) {
    return answer<naming>{};
  } else if constexpr (is_in<D, Named>) {
    return answer<ERROR_R17_dimension_occurs_twice<op::scatter_add, over_t<join_t<list<D>, Named>>, operand_t<Ids>>>{};
  } else if constexpr (missing::size > 0) {
    return answer<missing_t<op::scatter_add, missing, Values>>{};
  } else if constexpr (refuses_mark<op::scatter_add, Values>) {
    return answer<refused_mark_t<op::scatter_add, Values, O, lhs_t<Values>, rhs_t<Ids>>>{};
  } else if constexpr (misuses_weighted<op::sum, summed, Values>()) {
    return answer<
        ERROR_R5_weighted_product_is_reduced_over_its_weights_only<op::scatter_add, O, lhs_t<Values>, rhs_t<Ids>>>{};
  } else {
    using dims = join_t<list<D>, difference_t<dims_t<Values>, summed>>;
    if constexpr (!all_distinct(axes_of_list_t<dims>{})) {
      return answer<ERROR_R17_dimension_occurs_twice<op::scatter_add, O, lhs_t<Values>, rhs_t<Ids>>>{};
    } else {
      using marks = join_t<typename reduced_marks<op::sum, summed, Values>::type, marks_t<Ids>>;
      return answer<accepted<make_shape_t<dims, typename without_indexed<marks, D>::type>>>{};
    }
  }
}

}  // namespace detail

namespace rule {

template <class D, class Shape>
using roll = detail::on_ranks<op::roll, detail::of_one, detail::list<D>,
                              decltype(detail::judge_reorder<op::roll, D, Shape>()), Shape>;
template <class D, class Shape>
using flip = detail::on_ranks<op::flip, detail::of_one, detail::list<D>,
                              decltype(detail::judge_reorder<op::flip, D, Shape>()), Shape>;
template <class D, class Shape>
using sort = detail::on_ranks<op::sort, detail::of_one, detail::list<D>,
                              decltype(detail::judge_sort<op::sort, D, Shape>()), Shape>;
template <class D, class Shape>
using argsort = detail::on_ranks<op::argsort, detail::of_one, detail::list<D>,
                                 decltype(detail::judge_sort<op::argsort, D, Shape>()), Shape>;
template <class D, class IdDim, class Ids>
using one_hot = detail::on_ranks<op::one_hot, detail::of_one, detail::list<D>,
                                 decltype(detail::judge_one_hot<D, IdDim, Ids>()), Ids>;
template <class D, class IdDim, class Summed, class Values, class Ids>
using scatter_add =
    detail::on_ranks<op::scatter_add, detail::of_product, detail::named_t<Summed>,
                     decltype(detail::judge_scatter_add<D, IdDim, detail::named_t<Summed>, Values, Ids>()), Values,
                     Ids>;

}  // namespace rule
}  // namespace dimwise
