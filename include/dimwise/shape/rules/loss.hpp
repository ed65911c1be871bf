// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/loss.hpp -- the rules of losses: predictions and targets have equal dimensions.
//
// Layer: shape.
//
//   cross_entropy<V>:  logits [V, rest] x ids of V [rest], or weights [V, rest]  ->  [rest]
//
// Its elements may be shards, as the average over them is a partial sum; what it normalises over is whole (R24).
//
// R18, R19, R22, and the rules of a softmax over V for logits.
// Tests: tests/grad/training/loss.test.cpp, tests/compile_fail/grad/
#pragma once

#include <dimwise/shape/rules/elementwise.hpp>
#include <dimwise/shape/rules/placed.hpp>
#include <dimwise/shape/rules/reduce.hpp>

namespace dimwise {

namespace detail {

// The last check of every loss: the dimensions of its mean, where they are named, are those of its elements. The mean
// goes over positions of several documents only where the call says so.
template <class Op, class Named, class Elements, bool AllDocuments>
consteval auto judge_mean() {
  using dims = dims_t<Elements>;
  if constexpr (Named::size > 0 && !same_set<Named, dims>) {
    return answer<ERROR_R22_mean_goes_over_the_elements_of_the_loss<Op, over_t<Named>, operand_t<Elements>>>{};
  } else if constexpr (!AllDocuments && filter<axes_of_list_t<dims>>::packed > 0) {
    return answer<ERROR_R19_mean_over_all_documents_says_so<Op, over_t<dims>, operand_t<Elements>>>{};
  } else {
    return answer<accepted<Elements>>{};
  }
}

// Two operands of which each element meets one of the other.
template <class Op, class Named, class X, class Y, bool AllDocuments>
consteval auto judge_pairs() {
  if constexpr (indexed_meets<X, Y>) {
    return answer<ERROR_R18_single_element_meets_its_whole_dimension<Op, lhs_t<X>, rhs_t<Y>>>{};
  } else if constexpr (!same_set<dims_t<X>, dims_t<Y>>) {
    return answer<ERROR_R22_targets_have_other_dimensions<Op, lhs_t<X>, rhs_t<Y>>>{};
  } else if constexpr (refuses_mark<Op, X>) {
    return answer<refused_mark_t<Op, X, lhs_t<X>, rhs_t<Y>>>{};
  } else if constexpr (refuses_mark<op::mean_squared_error, Y>) {  // the marks that no targets have
    return answer<typename refused_mark<typename effects<op::mean_squared_error, marks_t<Y>>::refused, Op, lhs_t<X>,
                                        rhs_t<Y>>::type>{};
  } else if constexpr (std::is_same_v<Op, op::mean_squared_error> && logarithms_meet<X, Y>) {
    return answer<ERROR_R5_log_probabilities_meet_probabilities<Op, lhs_t<X>, rhs_t<Y>>>{};
  } else if constexpr (choose_unlike_rotations<X, Y>) {
    return answer<unlike_rotations_t<X, Y, Op, lhs_t<X>, rhs_t<Y>>>{};
  } else {
    return judge_mean<Op, Named, make_shape_t<dims_t<X>, list<>>, AllDocuments>();
  }
}

// Logits over V. `Ids`: what the targets are ids of, or nothing where they are weights.
template <class Op, class V, class Named, class Logits, class Ids, class Targets, bool AllDocuments>
consteval auto judge_alternatives() {
  using logits = typename decltype(judge_softmax<Op, list<V>, Logits>())::type;
  using rest = make_shape_t<difference_t<dims_t<Logits>, list<V>>, list<>>;
  using expected = either_t<std::is_same_v<Ids, nothing>, dims_t<Logits>, dims_t<rest>>;
  using sums_to_one = marked_t<normalised, marks_t<Targets>>;
  using logarithms = marked_t<log_normalised, marks_t<Targets>>;
  if constexpr (!allowed<logits>) {
    return answer<logits>{};
  } else if constexpr (!std::is_same_v<Ids, nothing> && !std::is_same_v<Ids, V> && !std::is_same_v<Ids, whole_t<V>>) {
    return answer<ERROR_R18_ids_index_their_own_dimension_only<Op, over_t<list<V>>, over_t<list<Ids>>>>{};
  } else if constexpr (indexed_meets<Logits, Targets>) {
    return answer<ERROR_R18_single_element_meets_its_whole_dimension<Op, lhs_t<Logits>, rhs_t<Targets>>>{};
  } else if constexpr (!same_set<dims_t<Targets>, expected>) {
    return answer<ERROR_R22_targets_have_other_dimensions<Op, lhs_t<Logits>, rhs_t<Targets>>>{};
  } else if constexpr (std::is_same_v<Op, op::cross_entropy> && logarithms::size > 0) {
    return answer<ERROR_R22_targets_are_log_probabilities<Op, over_t<list<V>>, lhs_t<Logits>, rhs_t<Targets>>>{};
  } else if constexpr ((sums_to_one::size > 0 && !std::is_same_v<sums_to_one, list<V>>) ||
                       (logarithms::size > 0 && !std::is_same_v<logarithms, list<V>>)) {
    return answer<
        ERROR_R22_targets_sum_to_one_over_another_dimension<Op, over_t<list<V>>, lhs_t<Logits>, rhs_t<Targets>>>{};
  } else {
    return judge_mean<Op, Named, rest, AllDocuments>();
  }
}

// The verdict, where what weighs the elements has dimensions of theirs alone; and all of them, where `Whole`.
template <class Op, class Verdict, bool Whole, class Allowed, class... Weights>
consteval auto judge_weights() {
  if constexpr (!allowed<Verdict> ||
                ((is_subset<dims_t<Weights>, Allowed> && (!Whole || is_subset<Allowed, dims_t<Weights>>)) && ...)) {
    return answer<Verdict>{};
  } else {
    return answer<ERROR_R22_weights_have_other_dimensions<Op, over_t<Allowed>, rhs_t<Weights>...>>{};
  }
}

}  // namespace detail

namespace rule {

template <class Op, class Named, class X, class Y, bool AllDocuments>
using loss_of_pairs = detail::on_ranks<Op, detail::of_one, detail::list<>,
                                       decltype(detail::judge_pairs<Op, Named, X, Y, AllDocuments>()), X, Y>;
template <class Op, class V, class Named, class Logits, class Ids, class Targets, bool AllDocuments>
using loss_of_alternatives =
    detail::on_ranks<Op, detail::of_one, detail::list<V>,
                     decltype(detail::judge_alternatives<Op, V, Named, Logits, Ids, Targets, AllDocuments>()), Logits,
                     Targets>;
template <class Op, class Verdict, class Allowed, class... Weights>
using loss_weights = typename decltype(detail::judge_weights<Op, Verdict, false, Allowed, Weights...>())::type;
template <class Op, class Verdict, class Alternatives, class... Weights>
using class_weights = typename decltype(detail::judge_weights<Op, Verdict, true, Alternatives, Weights...>())::type;

}  // namespace rule
}  // namespace dimwise
