// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/contract.hpp -- the rules of products: contract, scores, outer.
//
// Layer: shape.
//
//   contract<D…>:  [shared, free a, D…] x [shared, free b, D…]  ->  [shared, free a, free b]
//
// R1, R2, R5, R6, R9, R11, R12, R18, R19.
// Tests: tests/shape/rules/contract.test.cpp, tests/compile_fail/contract/
#pragma once

#include <dimwise/shape/rules/placed.hpp>
#include <dimwise/shape/verdict.hpp>

namespace dimwise {

/// Shared dimensions of two operands that are not parallel: `contract<key>(p, v, along<seq>{})` (R2).
template <class... D>
struct along {};

namespace detail {

// The properties of the operands that `contract` checks.
template <class Over, class Along, class A, class B>
struct product_facts {
  using a_dims = dims_t<A>;
  using b_dims = dims_t<B>;
  using over_axes = axes_of_list_t<Over>;
  using a_axes = axes_of_list_t<a_dims>;
  using b_axes = axes_of_list_t<b_dims>;
  using missing_in_a = difference_t<Over, a_dims>;
  using missing_in_b = difference_t<Over, b_dims>;
  // The axes that both operands have and the result keeps.
  using shared_axes = difference_t<intersection_t<a_axes, b_axes>, over_axes>;
  using undeclared = typename not_parallel_in<difference_t<shared_axes, axes_of_list_t<Along>>>::type;
  using shared = difference_t<intersection_t<a_dims, b_dims>, Over>;
  using free_a = difference_t<difference_t<a_dims, Over>, b_dims>;
  using free_b = difference_t<difference_t<b_dims, Over>, a_dims>;
  using free_axes_a = axes_of_list_t<free_a>;
  using free_axes_b = axes_of_list_t<free_b>;
  using result = join_t<shared, free_a, free_b>;

  // Positions selected by `at` count as positions of their operand.
  template <class Free, class Marks>
  static constexpr bool leaves_positions =
      filter<Free>::any_position || filter<marked_t<indexed, Marks>>::any_position || filter<Free>::any_batch;
  static constexpr bool over_positions = filter<over_axes>::any_position;
  static constexpr bool over_features = filter<Over>::all_features;
  // Contracting further dimensions along with a feature keeps the product raw: queries times keys over all heads.
  static constexpr bool over_a_feature = filter<Over>::any_feature;
  // Shared dimensions count for neither operand. A dimension that is both parallel and a choice, such as beams, is an
  // alternative only if it replaces the positions of its operand, such as the experts of a router.
  template <class Free, class Marks>
  static constexpr bool leaves_alternatives =
      filter<Free>::any_feature ||
      (filter<Free>::any_position || filter<marked_t<indexed, Marks>>::any_position ? filter<Free>::any_exclusive_choice
                                                                                    : filter<Free>::any_choice);
  static constexpr bool mixes_only_positions =
      over_a_feature && !leaves_alternatives<free_axes_a, marks_t<A>> && !leaves_alternatives<free_axes_b, marks_t<B>>;
  // R6: a product over a feature whose operands each keep free positions (or batch, without positions), and no feature
  // or choice.
  static constexpr bool is_raw =
      mixes_only_positions && leaves_positions<free_axes_a, marks_t<A>> && leaves_positions<free_axes_b, marks_t<B>>;
  // One query without its position, against many keys.
  static constexpr bool is_single_query =
      mixes_only_positions && ((filter<free_axes_a>::all_parallel && leaves_positions<free_axes_b, marks_t<B>>) ||
                               (filter<free_axes_b>::all_parallel && leaves_positions<free_axes_a, marks_t<A>>));
};

// A mixture: distributions over E, weighted by an operand that sums to one over the contracted dimensions, are
// distributions over E.
template <class Over, class Mixed, class Mixer>
inline constexpr bool is_mixture =
    marked_t<normalised, marks_t<Mixed>>::size > 0 && marked_t<normalised, marks_t<Mixer>>::size > 0 &&
    same_set<axes_of_list_t<marked_t<normalised, marks_t<Mixer>>>, axes_of_list_t<Over>>;

// Whether only some of the dimensions over which an operand sums to one are contracted.
template <class Over, class... M>
consteval bool splits_weights(list<M...>) {
  return (((mark_order<M> == mark_order<normalised<>> || mark_order<M> == mark_order<weighted<>>) &&
           !is_disjoint<axes_of_list_t<mark_dims_t<M>>, Over> && !is_subset<axes_of_list_t<mark_dims_t<M>>, Over>) ||
          ...);
}

// R5: weights are contracted over all of their own dimensions, over dimensions other than positions and alternatives,
// or as a mixture, and not with an operand that keeps theirs.
template <class Over, class Weights, class Other>
consteval bool misuses_weights() {
  using own = axes_of_list_t<weighing_t<Weights>>;
  using over_axes = axes_of_list_t<Over>;
  if constexpr (own::size == 0) {
    return false;
  } else {
    using summed_here = intersection_t<over_axes, axes_of_list_t<dims_t<Weights>>>;
    constexpr bool another =
        filter<difference_t<summed_here, own>>::any_alternative && !is_mixture<Over, Weights, Other>;
    constexpr bool other_keeps_it = !is_disjoint<difference_t<own, over_axes>, axes_of_list_t<dims_t<Other>>>;
    return another || other_keeps_it || splits_weights<over_axes>(marks_t<Weights>{});
  }
}

template <class Over, class A>
consteval bool sums_weights() {
  return weighing_t<A>::size > 0 && is_subset<axes_of_list_t<weighing_t<A>>, axes_of_list_t<Over>>;
}

// The marks of one operand that the result keeps.
template <class Over, class Shape, class Other>
struct product_marks;
template <class Over, class... T, class Other>
struct product_marks<Over, shape<T...>, Other> {
  using marks = marks_t<shape<T...>>;
  template <class M>
  static consteval bool stays() {
    if constexpr (mark_order<M> == mark_order<indexed<>> || mark_order<M> == mark_order<biased_for<>> ||
                  mark_order<M> == mark_order<log_normalised<>>) {
      return false;
    } else if constexpr (mark_order<M> == mark_order<normalised<>> && is_mixture<Over, shape<T...>, Other>) {
      return is_disjoint<axes_of_list_t<mark_dims_t<M>>, axes_of_list_t<Over>>;
    } else if constexpr (mark_order<M> == mark_order<normalised<>>) {
      return false;  // contracted over it, or heads were mixed: both end it; products alone weaken it
    } else if constexpr (mark_order<M> == mark_order<weighted<>>) {
      return is_disjoint<axes_of_list_t<mark_dims_t<M>>,
                         axes_of_list_t<Over>>;  // linear in what it may still be summed over
    } else if constexpr (mark_order<M> == mark_order<rotated<>>) {
      return is_disjoint<mark_dims_t<M>, atoms_of_list_t<Over>>;  // parts of a sum, too: rotary + pass-through
    } else {
      return true;
    }
  }
  template <class... M>
  static auto keep(list<M...>) -> join_t<list_if<stays<M>(), M>...>;
  using type = either_t<Over::size == 0, kept_marks_t<op::outer, shape<T...>>, decltype(keep(marks{}))>;
};

// out<D> becomes D when exactly one operand has it, the other has D, and the result would lack D (R12). A composite D
// has an axis for each factor, and out<D> has one: it keeps its name.
template <class Dims, class A, class B>
struct output_side;
template <class... D, class A, class B>
struct output_side<list<D...>, A, B> {
  template <class X>
  static consteval auto side() {
    if constexpr (is_out<X>) {
      using base = typename X::out_of;
      constexpr bool in_a = is_in<X, A>;
      constexpr bool in_b = is_in<X, B>;
      if constexpr (!is_composite<base> && in_a != in_b && is_in<base, either_t<in_a, B, A>> &&
                    !is_in<base, list<D...>>) {
        return answer<base>{};
      } else {
        return answer<X>{};
      }
    } else {
      return answer<X>{};
    }
  }
  using type = either_t<(is_out<D> || ...), list<typename decltype(side<D>())::type...>, list<D...>>;
};

// Whether one of two dimensions is a sum and the other is one of its parts.
template <class D, class... Others>
consteval bool grown_beside(list<Others...>) {
  return ((is_part_of<D, Others> || is_part_of<Others, D>) || ...);
}

template <class Op, class Over, class Side, class Facts, class A, class B>
consteval auto missing_in_product() {
  using missing = either_t<(Facts::missing_in_a::size > 0), typename Facts::missing_in_a, typename Facts::missing_in_b>;
  using here = either_t<(Facts::missing_in_a::size > 0), A, B>;
  using there = either_t<(Facts::missing_in_a::size > 0), B, A>;
  using D = first_t<missing>;
  if constexpr (is_out<D>) {
    if constexpr (is_in<typename D::out_of, dims_t<here>>) {
      return answer<ERROR_R12_weight_is_applied_the_wrong_way_round<Op, over_t<Over>, lhs_t<A>, rhs_t<B>>>{};
    } else {
      return answer<ERROR_R1_contracted_dimension_is_not_in_both<Op, over_t<Over>, lhs_t<A>, rhs_t<B>>>{};
    }
  } else if constexpr (hides_in_composite<D, here>) {
    return answer<ERROR_R4_composite_has_other_factors_or_order<Op, over_t<Over>, lhs_t<A>, rhs_t<B>>>{};
  } else if constexpr (is_position<D> && ((is_in<D, weighing_t<there>> && grown_beside<D>(dims_t<here>{})) ||
                                          grown_beside<D>(weighing_t<here>{}))) {
    // A prefix of the keys that the values lack, or the reverse.
    return answer<ERROR_R10_keys_and_values_grow_together<Op, over_t<Over>, lhs_t<A>, rhs_t<B>>>{};
  } else if constexpr (is_position<D> && is_in<D, weighing_t<there>> &&
                       filter<axes_of_list_t<dims_t<here>>>::any_position) {
    // Weights over D, and values at other positions.
    return answer<ERROR_R3_values_are_at_other_positions_than_the_weights<Op, over_t<Over>, lhs_t<A>, rhs_t<B>>>{};
  } else if constexpr (std::is_same_v<Op, op::scores> && is_feature<D> &&
                       filter<axes_of_list_t<dims_t<here>>>::any_feature_or_choice) {
    return answer<ERROR_R16_query_key_and_value_are_told_apart_by_dimensions<Op, over_t<Over>, lhs_t<A>, rhs_t<B>>>{};
  } else if constexpr (is_heads<D> && missing::size < Over::size) {
    return answer<ERROR_R12_weight_sums_over_heads_that_are_gone<Op, over_t<Over>, lhs_t<A>, rhs_t<B>>>{};
  } else {
    return answer<ERROR_R1_contracted_dimension_is_not_in_both<Op, over_t<Over>, lhs_t<A>, rhs_t<B>>>{};
  }
}

// The rotations of the features that are contracted: operands that differ in them are not rotated alike (R9).
template <class Over, class Shape>
using contracted_rotations = rotations_t<marks_t<Shape>, atoms_of_list_t<Over>>;
template <class Over, class A, class B>
inline constexpr bool rotations_differ = !same_set<contracted_rotations<Over, A>, contracted_rotations<Over, B>>;
template <class Over, class A, class B, class... Facts>
using unlike_in_product = either_t<contracted_rotations<Over, A>::size == 0 || contracted_rotations<Over, B>::size == 0,
                                   ERROR_R9_only_one_operand_is_rotated<Facts...>,
                                   ERROR_R9_operands_are_rotated_by_other_positions<Facts...>>;

template <class Op, class Over, class Along, class A, class B, bool AllDocuments = false>
consteval auto judge_product() {
  using facts = product_facts<Over, Along, A, B>;
  using O = over_t<Over>;
  using L = lhs_t<A>;
  using R = rhs_t<B>;
  if constexpr (!all_dimensions(join_t<Over, Along>{})) {
    return answer<ERROR_R1_operation_names_its_dimension<Op, over_t<join_t<Over, Along>>, L, R>>{};
  } else if constexpr (!named_once<Over, Along>) {
    return answer<ERROR_R17_dimension_occurs_twice<Op, over_t<join_t<Over, Along>>, L, R>>{};
  } else if constexpr (misuses_weights<Over, A, B>() || misuses_weights<Over, B, A>()) {
    return answer<ERROR_R5_weights_are_contracted_over_their_own_dimension<Op, O, L, R>>{};
  } else if constexpr (facts::missing_in_a::size > 0 || facts::missing_in_b::size > 0) {
    return missing_in_product<Op, Over, Along, facts, A, B>();
  } else if constexpr (refuses_mark<Op, A>) {
    return answer<refused_mark_t<Op, A, O, L, R>>{};
  } else if constexpr (refuses_mark<Op, B>) {
    return answer<refused_mark_t<Op, B, O, L, R>>{};
  } else if constexpr (facts::over_positions &&
                       join_t<marked_t<raw, marks_t<A>>, marked_t<score, marks_t<A>>, marked_t<raw, marks_t<B>>,
                              marked_t<score, marks_t<B>>>::size > 0) {
    return answer<ERROR_R6_scores_are_contracted_only_after_softmax<Op, O, L, R>>{};
  } else if constexpr (rotations_differ<Over, A, B>) {
    return answer<unlike_in_product<Over, A, B, Op, O, L, R>>{};
  } else if constexpr ((sums_weights<Over, A>() && marked_t<rotated, marks_t<B>>::size > 0) ||
                       (sums_weights<Over, B>() && marked_t<rotated, marks_t<A>>::size > 0)) {
    return answer<ERROR_R9_values_are_not_rotated<Op, O, L, R>>{};
  } else if constexpr (indexed_meets<A, B>) {
    return answer<ERROR_R18_single_element_meets_its_whole_dimension<Op, O, L, R>>{};
  } else if constexpr (difference_t<Along, typename facts::shared>::size > 0) {
    return answer<ERROR_R1_contracted_dimension_is_not_in_both<Op, over_t<Along>, L, R>>{};
  } else if constexpr (facts::undeclared::size > 0) {
    return answer<ERROR_R2_shared_dimension_is_not_parallel<Op, over_t<typename facts::undeclared>, L, R>>{};
  } else if constexpr (!AllDocuments && filter<kinds_of_list_t<Over>>::packed > 0 && !sums_weights<Over, A>() &&
                       !sums_weights<Over, B>()) {
    return answer<ERROR_R19_packed_positions_need_their_documents<Op, O, L, R>>{};
  } else if constexpr ((facts::is_raw || facts::is_single_query || sums_weights<Over, A>() ||
                        sums_weights<Over, B>()) &&
                       filter<typename facts::free_axes_a>::any_heads &&
                       filter<typename facts::free_axes_b>::any_heads) {
    return answer<ERROR_R11_every_head_against_every_head<Op, O, L, R>>{};
  } else {
    using dims = typename output_side<typename facts::result, dims_t<A>, dims_t<B>>::type;
    using marks = join_t<typename product_marks<Over, A, B>::type, typename product_marks<Over, B, A>::type>;
    if constexpr (!all_distinct(axes_of_list_t<dims>{})) {
      return answer<ERROR_R17_dimension_occurs_twice<Op, O, L, R>>{};
    } else {
      return answer<accepted<make_shape_t<dims, marks>>>{};
    }
  }
}

template <class Over>
struct raw_mark;
template <class... D>
struct raw_mark<list<D...>> {
  using raw_list = list<raw<D...>>;
  using score_list = list<score<D...>>;
};

template <class Shape, class More>
using with_marks_t = make_shape_t<dims_t<Shape>, join_t<marks_t<Shape>, More>>;

template <class Over, class Along, class A, class B, bool AllDocuments = false>
consteval auto judge_contract() {
  constexpr auto product = judge_product<op::contract, Over, Along, A, B, AllDocuments>();
  using verdict = typename decltype(product)::type;
  if constexpr (allowed<verdict>) {
    if constexpr (product_facts<Over, Along, A, B>::is_raw) {
      return answer<accepted<with_marks_t<typename verdict::shape, typename raw_mark<Over>::raw_list>>>{};
    } else {
      return product;
    }
  } else {
    return product;
  }
}

// Whether the product gives scores, which are over features alone: contracted heads would share one score.
template <class Facts>
inline constexpr bool is_scores = Facts::over_features && (Facts::is_raw || Facts::is_single_query);

// Whether the operands share all dimensions that they keep: the product pairs elements one to one.
template <class Facts>
inline constexpr bool gives_pairs = Facts::free_a::size + Facts::free_b::size == 0 && (Facts::shared::size > 0);

template <class Over, class A, class B>
consteval auto judge_scores() {
  constexpr auto product = judge_product<op::scores, Over, list<>, A, B>();
  using verdict = typename decltype(product)::type;
  if constexpr (!allowed<verdict>) {
    return product;
  } else if constexpr (is_scores<product_facts<Over, list<>, A, B>>) {
    return answer<accepted<with_marks_t<typename verdict::shape, typename raw_mark<Over>::score_list>>>{};
  } else if constexpr (gives_pairs<product_facts<Over, list<>, A, B>>) {
    return answer<ERROR_R2_shared_dimension_pairs_elements_one_to_one<
        op::scores, over_t<typename product_facts<Over, list<>, A, B>::shared>, lhs_t<A>, rhs_t<B>>>{};
  } else {
    return answer<ERROR_R6_scores_are_products_of_positions<op::scores, over_t<Over>, lhs_t<A>, rhs_t<B>>>{};
  }
}

}  // namespace detail

/// The verdicts of rules: `rule::contract<over, along, a, b>` and so on; `type` is `accepted<shape>` or the error.
namespace rule {

template <class Over, class Along, class A, class B>
using contract =
    detail::on_ranks<op::contract, detail::of_product, detail::named_t<Over>,
                     decltype(detail::judge_contract<detail::named_t<Over>, detail::named_t<Along>, A, B>()), A, B>;
/// A product over the positions of all documents.
template <class Over, class Along, class A, class B>
using contract_all =
    detail::on_ranks<op::contract, detail::of_product, detail::named_t<Over>,
                     decltype(detail::judge_contract<detail::named_t<Over>, detail::named_t<Along>, A, B, true>()), A,
                     B>;
template <class A, class B>
using outer =
    detail::on_ranks<op::outer, detail::of_product, detail::list<>,
                     decltype(detail::judge_product<op::outer, detail::list<>, detail::list<>, A, B>()), A, B>;
template <class Over, class A, class B>
using scores = detail::on_ranks<op::scores, detail::of_product, detail::named_t<Over>,
                                decltype(detail::judge_scores<detail::named_t<Over>, A, B>()), A, B>;

}  // namespace rule
}  // namespace dimwise
