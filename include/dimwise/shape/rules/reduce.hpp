// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/reduce.hpp -- the rules of softmax, reductions and norms over named dimensions.
//
// Layer: shape.
//
//   softmax<D>:  [D, rest]  ->  [D, rest], normalised<D>          sum<D>:  [D, rest]  ->  [rest]
//
// R1, R5, R6, R7, R13, R19.
// Tests: tests/shape/rules/reduce.test.cpp, tests/compile_fail/softmax/, tests/compile_fail/reduce/
#pragma once

#include <dimwise/shape/rules/elementwise.hpp>
#include <dimwise/shape/rules/mask.hpp>
#include <dimwise/shape/rules/placed.hpp>
#include <dimwise/shape/verdict.hpp>

namespace dimwise {

namespace detail {

// R7: every mask, and for a softmax every bias, distinguishes the alternatives that the operation reduces.
template <class Over, template <class...> class Mark, class... M>
consteval bool serves_all(list<M...>) {
  return ((mark_order<M> != mark_order<Mark<>> || !is_disjoint<axes_of_list_t<mark_dims_t<M>>, axes_of_list_t<Over>>) &&
          ...);
}
template <class Op>
inline constexpr bool shifts_vanish = std::is_same_v<Op, op::softmax> || std::is_same_v<Op, op::log_softmax> ||
                                      std::is_same_v<Op, op::cross_entropy> || std::is_same_v<Op, op::kl_divergence>;

// The error of a mask that hides other dimensions. A mask of `seq` before a softmax over its prime takes queries for
// keys: the error then names what it hides, so that the message does not propose a softmax over the queries.
template <class Op, class Over, class Served, class Shape>
struct unserved_mask {
  using type = ERROR_R7_mask_does_not_serve_this_dimension<Op, over_t<Over>, operand_t<Shape>>;
};
template <class Op, class D, class Hidden, class Shape>
  requires is_prime_of<D, Hidden>
struct unserved_mask<Op, list<D>, list<Hidden>, Shape> {
  using type = ERROR_R7_mask_does_not_serve_this_dimension<Op, over_t<list<D>>, operand_t<Shape>, over<Hidden>>;
};

// The first checks of operations over named dimensions: the operand has each, without duplicates, its marks are
// accepted, its mask serves them, and a mask distinguishes all packed positions. Returns `nothing` if there is no
// error.
template <class Op, class Over, class Shape, bool AllDocuments>
consteval auto common_objection() {
  using naming = naming_objection_t<Op, Over, Shape>;
  using served = marked_t<masked_for, marks_t<Shape>>;
  using O = over_t<Over>;
  if constexpr (!std::is_same_v<naming, nothing>) {
    return answer<naming>{};
  } else if constexpr (refuses_mark<Op, Shape>) {
    return answer<refused_mark_t<Op, Shape, O, operand_t<Shape>>>{};
  } else if constexpr (!serves_all<Over, masked_for>(marks_t<Shape>{})) {
    return answer<typename unserved_mask<Op, Over, served, Shape>::type>{};
  } else if constexpr (shifts_vanish<Op> && !serves_all<Over, biased_for>(marks_t<Shape>{})) {
    return answer<ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over<Op, O, operand_t<Shape>>>{};
  } else if constexpr (!AllDocuments &&
                       !is_subset<typename packed_in<kinds_of_list_t<Over>>::type, kinds_of_list_t<served>>) {
    return answer<ERROR_R19_packed_positions_need_their_documents<Op, O, operand_t<Shape>>>{};
  } else {
    return answer<nothing>{};
  }
}
template <class Op, class Over, class Shape, bool AllDocuments = false>
using objection_t = typename decltype(common_objection<Op, Over, Shape, AllDocuments>())::type;

template <class Over>
struct normalised_mark;
template <class... D>
struct normalised_mark<list<D...>> {
  using type = list<normalised<D...>>;
};
// The marks that a softmax or its logarithm sets.
template <class Op, class Over>
struct softmax_mark : normalised_mark<Over> {};
template <class... D>
struct softmax_mark<op::log_softmax, list<D...>> {
  using type = list<log_normalised<D...>>;
};

// Names only those dimensions that are neither positions nor alternatives.
template <class Op, class Over, class Shape>
using not_attended_error =
    ERROR_R13_softmax_takes_attendable_or_choice<Op, over_t<typename not_attended_in<Over>::type>, operand_t<Shape>>;

template <class Op, class Over, class Shape>
consteval auto judge_softmax() {
  using objection = objection_t<Op, Over, Shape>;
  if constexpr (!std::is_same_v<objection, nothing>) {
    return answer<objection>{};
  } else if constexpr (!filter<Over>::all_attended) {
    return answer<not_attended_error<Op, Over, Shape>>{};
  } else if constexpr (filter<Over>::all_single) {
    return answer<ERROR_R5_softmax_over_a_single_element<Op, over_t<Over>, operand_t<Shape>>>{};
  } else {
    using kept = kept_marks_t<Op, Shape>;
    return answer<accepted<make_shape_t<dims_t<Shape>, join_t<kept, typename softmax_mark<Op, Over>::type>>>>{};
  }
}

// Marks by rule of a reduction over `Over`.
template <class Op, class Over, class Shape>
struct reduced_marks {
  static constexpr bool parallel_only = filter<axes_of_list_t<Over>>::all_parallel;
  template <class M>
  static consteval auto one() {
    if constexpr (mark_order<M> == mark_order<indexed<>>) {
      return list<M>{};
    } else if constexpr (mark_order<M> == mark_order<masked_for<>> || mark_order<M> == mark_order<biased_for<>> ||
                         mark_order<M> == mark_order<log_normalised<>>) {
      return list<>{};
    } else if constexpr (mark_order<M> == mark_order<normalised<>> && parallel_only) {
      return typename either_t<std::is_same_v<Op, op::mean>, std::type_identity<list<M>>, weakened<M>>::type{};
    } else if constexpr (mark_order<M> == mark_order<normalised<>>) {
      return list<>{};
    } else if constexpr (mark_order<M> == mark_order<weighted<>>) {
      return list_if<is_disjoint<mark_dims_t<M>, Over>, M>{};
    } else if constexpr (mark_order<M> == mark_order<rotated<>>) {
      return list_if<is_disjoint<mark_dims_t<M>, Over>, M>{};
    } else {
      return list_if<!filter<axes_of_list_t<Over>>::any_position, M>{};  // a statistic of scores is not a score
    }
  }
  template <class... M>
  static auto all(list<M...>) -> join_t<decltype(one<M>())...>;
  using type = decltype(all(marks_t<Shape>{}));
};

// R5: a weighted product is summed over its own dimension, or reduced over parallel ones, which leave it weighted.
template <class Op, class Over, class Shape>
consteval bool misuses_weighted() {
  using own = marked_t<weighted, marks_t<Shape>>;
  if constexpr (own::size == 0) {
    return false;
  } else {
    return !filter<axes_of_list_t<difference_t<Over, own>>>::all_parallel;
  }
}

// R5: what sums to one over a dimension has the mean 1/n there, whatever it is.
template <class Op, class Over, class Shape>
consteval bool averages_weights() {
  return std::is_same_v<Op, op::mean> && !is_disjoint<axes_of_list_t<Over>, axes_of_list_t<weighing_t<Shape>>>;
}

// R5: the largest of alternatives, by weights that sum to one over positions: those of one alternative compare the
// positions, and those of one position do not compare the alternatives.
template <class... D>
consteval bool all_positions(list<D...>) {
  return sizeof...(D) > 0 && (is_position<D> && ...);
}
template <class Over, class Shape>
consteval bool chooses_by_positions() {
  using weights =
      axes_of_list_t<join_t<marked_t<normalised, marks_t<Shape>>, marked_t<log_normalised, marks_t<Shape>>>>;
  return filter<axes_of_list_t<Over>>::any_choice && !filter<axes_of_list_t<Over>>::any_position &&
         all_positions(weights{});
}

template <class Op, class Over, class Shape, bool AllDocuments = false>
consteval auto judge_reduce() {
  using objection = objection_t<Op, Over, Shape, AllDocuments>;
  if constexpr (!std::is_same_v<objection, nothing>) {
    return answer<objection>{};
  } else if constexpr (averages_weights<Op, Over, Shape>()) {
    return answer<ERROR_R5_mean_divides_weights_that_already_sum_to_one<Op, over_t<Over>, operand_t<Shape>>>{};
  } else if constexpr (misuses_weighted<Op, Over, Shape>()) {
    return answer<ERROR_R5_weighted_product_is_reduced_over_its_weights_only<Op, over_t<Over>, operand_t<Shape>>>{};
  } else if constexpr ((std::is_same_v<Op, op::argmax> || std::is_same_v<Op, op::logsumexp>) &&
                       !filter<Over>::all_attended) {
    return answer<not_attended_error<Op, Over, Shape>>{};
  } else if constexpr (std::is_same_v<Op, op::argmax> && chooses_by_positions<Over, Shape>()) {
    return answer<ERROR_R5_alternatives_are_chosen_by_weights_over_positions<Op, over_t<Over>, operand_t<Shape>>>{};
  } else if constexpr (std::is_same_v<Op, op::argmax> || std::is_same_v<Op, op::logsumexp>) {
    using kept = kept_marks_t<Op, Shape>;
    return answer<accepted<make_shape_t<difference_t<dims_t<Shape>, Over>, kept>>>{};
  } else {
    return answer<
        accepted<make_shape_t<difference_t<dims_t<Shape>, Over>, typename reduced_marks<Op, Over, Shape>::type>>>{};
  }
}

// layer_norm and rms_norm take features; standardize and quantised take any.
template <class Op>
inline constexpr bool goes_over_any = std::is_same_v<Op, op::standardize> || std::is_same_v<Op, op::quantised>;
template <class Op, class Over, class Shape>
consteval auto judge_norm() {
  using objection = objection_t<Op, Over, Shape>;
  if constexpr (!std::is_same_v<objection, nothing>) {
    return answer<objection>{};
  } else if constexpr (!goes_over_any<Op> && !filter<Over>::all_features) {
    return answer<ERROR_R13_norm_takes_features<Op, over_t<typename not_features_in<Over>::type>, operand_t<Shape>>>{};
  } else {
    return answer<accepted<make_shape_t<dims_t<Shape>, kept_marks_t<Op, Shape>>>>{};
  }
}

template <class Over, class Shape>
consteval auto judge_renormalise() {
  using objection = objection_t<op::renormalise, Over, Shape>;
  if constexpr (!std::is_same_v<objection, nothing>) {
    return answer<objection>{};
  } else if constexpr (!filter<Over>::all_attended) {
    return answer<not_attended_error<op::renormalise, Over, Shape>>{};
  } else {
    return answer<accepted<make_shape_t<
        dims_t<Shape>, join_t<kept_marks_t<op::renormalise, Shape>, typename normalised_mark<Over>::type>>>>{};
  }
}

// Cumulative sums and products have an order.
template <class Op, class Over, class Shape>
consteval auto judge_cumulative() {
  using objection = objection_t<Op, Over, Shape>;
  if constexpr (!std::is_same_v<objection, nothing>) {
    return answer<objection>{};
  } else if constexpr (!filter<Over>::all_ordered) {
    return answer<ERROR_R13_needs_ordered_positions<Op, over_t<Over>, operand_t<Shape>>>{};
  } else {
    return answer<accepted<make_shape_t<dims_t<Shape>, kept_marks_t<Op, Shape>>>>{};
  }
}

// The rules are checked one after the other: the second receives what the first accepts.
template <class Op, class Over, class Shape, class Facts>
consteval auto judge_reduce_masked() {
  using masking = rule::masked<Shape, Facts>;
  if constexpr (allowed<masking>) {
    return judge_reduce<Op, Over, typename masking::shape>();
  } else {
    return answer<masking>{};
  }
}
// γ and β have no dimensions that the normed operand lacks.
template <class Op, class Over, class Shape, class... Weights>
consteval auto judge_norm_with() {
  constexpr auto verdict = judge_norm<Op, Over, Shape>();
  if constexpr (!allowed<typename decltype(verdict)::type>) {
    return verdict;
  } else if constexpr (indexed_meets<Shape, Weights...>) {
    return answer<error_with_t<ERROR_R18_single_element_meets_its_whole_dimension, Op, Shape, Weights...>>{};
  } else if constexpr (!(is_subset<dims_t<Weights>, dims_t<Shape>> && ...)) {
    return answer<error_with_t<ERROR_R8_neither_has_all_dimensions_of_the_other, Op, Shape, Weights...>>{};
  } else {
    return verdict;
  }
}

}  // namespace detail

namespace rule {

template <class Op, class Over, class Shape>
using softmax = detail::on_ranks<Op, detail::of_one, detail::named_t<Over>,
                                 decltype(detail::judge_softmax<Op, detail::named_t<Over>, Shape>()), Shape>;
template <class Op, class Over, class Shape>
using reduce = detail::on_ranks<Op, detail::of_one, detail::named_t<Over>,
                                decltype(detail::judge_reduce<Op, detail::named_t<Over>, Shape>()), Shape>;
/// The mean over a shard of the dimension Whole, whose extent is given.
template <class Whole, class Over, class Shape>
using mean_of_whole = detail::on_ranks<op::mean, detail::of_whole<Whole>, detail::named_t<Over>,
                                       decltype(detail::judge_reduce<op::mean, detail::named_t<Over>, Shape>()), Shape>;
/// Over the positions of all documents.
template <class Op, class Over, class Shape>
using reduce_all = detail::on_ranks<Op, detail::of_one, detail::named_t<Over>,
                                    decltype(detail::judge_reduce<Op, detail::named_t<Over>, Shape, true>()), Shape>;
template <class Op, class Over, class Shape>
using norm = detail::on_ranks<Op, detail::of_one, detail::named_t<Over>,
                              decltype(detail::judge_norm<Op, detail::named_t<Over>, Shape>()), Shape>;
template <class Op, class Over, class Shape, class Facts>
using reduce_masked =
    detail::on_ranks<Op, detail::of_masked, detail::named_t<Over>,
                     decltype(detail::judge_reduce_masked<Op, detail::named_t<Over>, Shape, Facts>()), Shape>;
template <class Op, class Over, class Shape, class... Weights>
using norm_with = detail::on_ranks<Op, detail::of_one, detail::named_t<Over>,
                                   decltype(detail::judge_norm_with<Op, detail::named_t<Over>, Shape, Weights...>()),
                                   Shape, Weights...>;
template <class Over, class Shape>
using renormalise = detail::on_ranks<op::renormalise, detail::of_one, detail::named_t<Over>,
                                     decltype(detail::judge_renormalise<detail::named_t<Over>, Shape>()), Shape>;
template <class Over, class Shape>
using cumsum = detail::on_ranks<op::cumsum, detail::of_one, detail::named_t<Over>,
                                decltype(detail::judge_cumulative<op::cumsum, detail::named_t<Over>, Shape>()), Shape>;
template <class Over, class Shape>
using cumprod =
    detail::on_ranks<op::cumprod, detail::of_one, detail::named_t<Over>,
                     decltype(detail::judge_cumulative<op::cumprod, detail::named_t<Over>, Shape>()), Shape>;

}  // namespace rule
}  // namespace dimwise
