// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/positions.hpp -- the rules of operations on positions (rotary, unroll, pool, skew) and of top_k.
//
// Layer: shape.
//
//   rotary<P, F>: [P, F, rest] -> the same, rotated<F, P>       unroll<P, W>: [P, rest] -> [P, W, rest]
//
// R1, R4, R9, R13, R17, R18, R19.
// Tests: tests/shape/rules/positions.test.cpp, tests/compile_fail/positions/
#pragma once

#include <dimwise/shape/rules/index.hpp>
#include <dimwise/shape/rules/placed.hpp>
#include <dimwise/shape/rules/reduce.hpp>

namespace dimwise::detail {

template <class P, class F, class Shape>
consteval auto judge_rotary() {
  using O = over<about_t<P>, about_t<F>>;
  using missing = difference_t<list<P, F>, dims_t<Shape>>;
  constexpr bool odd = F::static_extent != at_run_time && F::static_extent % 2 == 1;
  if constexpr (!has_any(P::abilities, ability::ordered) || !is_feature<F> || is_made_of_several<P> ||
                is_made_of_several<F> || odd) {
    return answer<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head<op::rotary, O, operand_t<Shape>>>{};
  } else if constexpr (missing::size > 0) {
    if constexpr (hides_in_composite<first_t<missing>, Shape>) {
      return answer<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head<op::rotary, O, operand_t<Shape>>>{};
    } else {
      return answer<missing_t<op::rotary, missing, Shape>>{};
    }
  } else if constexpr (is_in<F, marked_t<rotated, marks_t<Shape>>>) {
    return answer<ERROR_R9_already_rotated<op::rotary, O, operand_t<Shape>>>{};
  } else if constexpr (refuses_mark<op::rotary, Shape>) {
    return answer<refused_mark_t<op::rotary, Shape, O, operand_t<Shape>>>{};
  } else {
    return answer<accepted<make_shape_t<dims_t<Shape>, join_t<marks_t<Shape>, list<rotated<F, unprimed_t<P>>>>>>>{};
  }
}

// Positions given to rotary have P and dimensions of the operand, no others.
template <class P, class F, class Shape, class Positions>
consteval auto judge_rotary_at() {
  using verdict = typename decltype(judge_rotary<P, F, Shape>())::type;
  if constexpr (refused<verdict>) {
    return answer<verdict>{};
  } else if constexpr (!is_in<P, dims_t<Positions>> ||
                       !is_subset<dims_t<Positions>, difference_t<dims_t<Shape>, list<F>>>) {
    return answer<ERROR_R9_angles_do_not_belong_to_the_rotated_positions<op::rotary, over<about_t<P>, about_t<F>>,
                                                                         lhs_t<Shape>, rhs_t<Positions>>>{};
  } else if constexpr (indexed_meets<Shape, Positions>) {
    return answer<ERROR_R18_single_element_meets_its_whole_dimension<op::rotary, over<about_t<P>, about_t<F>>,
                                                                     lhs_t<Shape>, rhs_t<Positions>>>{};
  } else {
    return answer<accepted<with_indexed_t<typename verdict::shape, Positions>>>{};
  }
}

// Cosines and sines given to rotary have the dimensions of positions, and one feature that counts the pairs.
template <class P, class F, class Shape, class Cosines, class Sines>
consteval auto judge_rotary_by() {
  using verdict = typename decltype(judge_rotary<P, F, Shape>())::type;
  using pairs = difference_t<dims_t<Cosines>, dims_t<Shape>>;
  if constexpr (refused<verdict>) {
    return answer<verdict>{};
  } else if constexpr (!same_set<dims_t<Cosines>, dims_t<Sines>> || !is_in<P, dims_t<Cosines>> ||
                       is_in<F, dims_t<Cosines>> || pairs::size != 1 || !filter<pairs>::all_features ||
                       !is_disjoint<axes_of_list_t<pairs>, axes_of_list_t<dims_t<Shape>>>) {
    return answer<ERROR_R9_angles_do_not_belong_to_the_rotated_positions<op::rotary, over<about_t<P>, about_t<F>>,
                                                                         lhs_t<Shape>, rhs_t<Cosines>>>{};
  } else if constexpr (indexed_meets<Shape, Cosines, Sines>) {
    return answer<ERROR_R18_single_element_meets_its_whole_dimension<op::rotary, over<about_t<P>, about_t<F>>,
                                                                     lhs_t<Shape>, rhs_t<Cosines>, rhs_t<Sines>>>{};
  } else {
    return answer<accepted<with_indexed_t<typename verdict::shape, Cosines, Sines>>>{};
  }
}

// A static dimension needs a name for its result; a run-time dimension keeps its name. Packed positions are rejected
// before: without a mask by R19, with one by R7.
template <class Op, class D, class W, class Result, class Shape, std::size_t Stride = 1>
consteval auto judge_windows() {
  using O = over<about_t<D>, about_t<W>, about_t<Result>>;
  using objection = objection_t<Op, list<D>, Shape>;
  constexpr bool all_known =
      D::static_extent != at_run_time && W::static_extent != at_run_time && Result::static_extent != at_run_time;
  if constexpr (!std::is_same_v<objection, nothing>) {
    return answer<objection>{};
  } else if constexpr (!has_any(D::abilities, ability::ordered) || is_merged<D> || is_composite<W> ||
                       is_composite<Result>) {
    // The elements of a product have no single stride, and the result has a single extent.
    return answer<ERROR_R13_needs_ordered_positions<Op, O, operand_t<Shape>>>{};
  } else if constexpr (std::is_same_v<D, Result> && D::static_extent != at_run_time) {
    return answer<ERROR_R18_slice_of_a_static_extent_names_its_result<Op, O, operand_t<Shape>>>{};
  } else {
    constexpr bool fits =
        !all_known || (std::is_same_v<Op, op::pool>
                           ? D::static_extent == Result::static_extent * W::static_extent
                           : W::static_extent <= D::static_extent &&
                                 (D::static_extent - W::static_extent) / Stride + 1 == Result::static_extent);
    if constexpr (!fits) {
      return answer<ERROR_R13_window_does_not_fit<Op, O, operand_t<Shape>>>{};
    } else {
      using dims = replace_t<dims_t<Shape>, D, list<Result, W>>;
      if constexpr (!all_distinct(axes_of_list_t<dims>{})) {
        return answer<ERROR_R17_dimension_occurs_twice<Op, O, operand_t<Shape>>>{};
      } else {
        return answer<accepted<make_shape_t<dims, typename rename_marks<kept_marks_t<Op, Shape>, D, Result>::type>>>{};
      }
    }
  }
}

template <class Q, class R, class K, class Shape>
consteval auto judge_skew() {
  using O = over<about_t<Q>, about_t<R>, about_t<K>>;
  using naming = naming_objection_t<op::skew, list<Q, R>, Shape>;
  if constexpr (!std::is_same_v<naming, nothing>) {
    return answer<naming>{};
  } else if constexpr (!filter<list<Q, R, K>>::all_ordered || is_merged<Q> || is_merged<R> || is_composite<K>) {
    return answer<ERROR_R13_needs_ordered_positions<op::skew, O, operand_t<Shape>>>{};
  } else if constexpr (!related<Q, K>) {
    return answer<ERROR_R7_query_and_key_positions_are_related_or_have_origins<op::skew, O, operand_t<Shape>>>{};
  } else {
    using dims = replace_t<dims_t<Shape>, R, list<K>>;
    if constexpr (!all_distinct(axes_of_list_t<dims>{})) {
      return answer<ERROR_R17_dimension_occurs_twice<op::skew, O, operand_t<Shape>>>{};
    } else {
      return answer<accepted<
          make_shape_t<dims, typename rename_marks<typename cut_marks<marks_t<Shape>, R>::type, R, K>::type>>>{};
    }
  }
}

// The best elements take the place of all. Where all sum to one, the best sum to a part of one only.
template <class D, class Best, class Shape>
consteval auto judge_top_k() {
  using O = over<about_t<D>, about_t<Best>>;
  using objection = objection_t<op::top_k, list<D>, Shape>;
  if constexpr (!std::is_same_v<objection, nothing>) {
    return answer<objection>{};
  } else if constexpr (!dimension_type<Best>) {
    return answer<ERROR_R1_operation_names_its_dimension<op::top_k, O, operand_t<Shape>>>{};
  } else if constexpr (!filter<list<D, Best>>::all_attended || is_composite<Best>) {
    return answer<ERROR_R13_softmax_takes_attendable_or_choice<op::top_k, O, operand_t<Shape>>>{};
  } else if constexpr (chooses_by_positions<list<D>, Shape>()) {
    return answer<
        ERROR_R5_alternatives_are_chosen_by_weights_over_positions<op::top_k, over<about_t<D>>, operand_t<Shape>>>{};
  } else if constexpr (D::static_extent != at_run_time && Best::static_extent != at_run_time &&
                       Best::static_extent > D::static_extent) {
    return answer<ERROR_R18_more_elements_than_the_dimension_has<op::top_k, O, operand_t<Shape>>>{};
  } else {
    using dims = replace_t<dims_t<Shape>, D, list<Best>>;
    if constexpr (!all_distinct(axes_of_list_t<dims>{})) {
      return answer<ERROR_R17_dimension_occurs_twice<op::top_k, O, operand_t<Shape>>>{};
    } else {
      return answer<
          accepted<make_shape_t<dims, typename rename_marks<kept_marks_t<op::top_k, Shape>, D, Best>::type>>>{};
    }
  }
}

}  // namespace dimwise::detail

namespace dimwise::rule {

template <class P, class F, class Shape>
using rotary = detail::on_ranks<op::rotary, detail::of_one, detail::list<P, F>,
                                decltype(detail::judge_rotary<P, F, Shape>()), Shape>;
template <class P, class F, class Shape, class Positions>
using rotary_at = detail::on_ranks<op::rotary, detail::of_one, detail::list<P, F>,
                                   decltype(detail::judge_rotary_at<P, F, Shape, Positions>()), Shape, Positions>;
template <class P, class F, class Shape, class Cosines, class Sines>
using rotary_by =
    detail::on_ranks<op::rotary, detail::of_one, detail::list<P, F>,
                     decltype(detail::judge_rotary_by<P, F, Shape, Cosines, Sines>()), Shape, Cosines, Sines>;
template <class D, class W, class Result, class Shape>
using unroll = detail::on_ranks<op::unroll, detail::of_one, detail::list<D, W, Result>,
                                decltype(detail::judge_windows<op::unroll, D, W, Result, Shape>()), Shape>;
template <class D, class W, class Result, std::size_t Stride, class Shape>
using unroll_by = detail::on_ranks<op::unroll, detail::of_one, detail::list<D, W, Result>,
                                   decltype(detail::judge_windows<op::unroll, D, W, Result, Shape, Stride>()), Shape>;
template <class D, class W, class Result, class Shape>
using pool = detail::on_ranks<op::pool, detail::of_one, detail::list<D, W, Result>,
                              decltype(detail::judge_windows<op::pool, D, W, Result, Shape>()), Shape>;
template <class Q, class R, class K, class Shape>
using skew = detail::on_ranks<op::skew, detail::of_one, detail::list<Q, R, K>,
                              decltype(detail::judge_skew<Q, R, K, Shape>()), Shape>;
template <class D, class Best, class Shape>
using top_k = detail::on_ranks<op::top_k, detail::of_one, detail::list<D, Best>,
                               decltype(detail::judge_top_k<D, Best, Shape>()), Shape>;

}  // namespace dimwise::rule
