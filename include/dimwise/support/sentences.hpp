// SPDX-License-Identifier: BSL-1.0
// dimwise/support/sentences.hpp -- what each error says, where the compiler takes messages made at compile time.
//
// generated: python3 tools/sentences_header.py; do not edit
// Layer: support. support/errors.hpp includes it. The words are those of tools/dimwise_errors.py.
// Tests: tools/check_said.py
#pragma once

#include <dimwise/support/errors.hpp>

// clang-format off
#if defined(DIMWISE_DETAIL_SENTENCES)

#include <dimwise/support/sentence.hpp>

namespace dimwise {

namespace detail {

struct saying_words {
  static constexpr saying::pair operations[] = {
      {"elementwise", "arithmetic"},
      {"assign", "the assignment"},
      {"divide", "the division"},
      {"compare", "the comparison"},
      {"mask_and", "`&` of masks"},
      {"mask_or", "`|` of masks"}};
  static constexpr saying::pair shapes[] = {
      {"lhs", "left"},
      {"rhs", "right"},
      {"operand_shape", "operand"},
      {"declared", "declared"},
      {"computed", "expression"}};
  static constexpr const char* marks[] = {
      "raw",
      "score",
      "masked_for",
      "biased_for",
      "normalised",
      "weighted",
      "rotated",
      "indexed"};
};

// The sentence of an error by its patterns, of which the first is taken whose facts are all there.
template <class Error, auto& Patterns>
inline constexpr auto sentence = saying::facts<saying_words>(saying::printed<Error>()).sentence(Patterns);

}  // namespace detail

template <class... Facts>
struct ERROR_R1_contracted_dimension_is_not_in_both {
  static constexpr const char* says[] = {
      "{op} goes over {over}, but {lacking}",
      "{op} goes over {over}, which not both operands have"};
  static_assert(false, detail::sentence<ERROR_R1_contracted_dimension_is_not_in_both, says>);
};
template <class... Facts>
struct ERROR_R1_operation_names_its_dimension {
  static constexpr const char* says[] = {
      "{op} is given {types} where it names its dimensions",
      "{op} over {over} names no dimension of [{lhave}] and [{rhave}]",
      "{op} does not name the dimension of [{have}] that it goes over",
      "{op} does not name its dimension"};
  static_assert(false, detail::sentence<ERROR_R1_operation_names_its_dimension, says>);
};
template <class... Facts>
struct ERROR_R1_dimension_is_not_in_the_operand {
  static constexpr const char* says[] = {
      "{op} names {missing}, but its operand has {have}",
      "{op} names {over}, but not every operand has it",
      "{op} names {over}, which is not in its operand"};
  static_assert(false, detail::sentence<ERROR_R1_dimension_is_not_in_the_operand, says>);
};
template <class... Facts>
struct ERROR_R1_tensor_names_dimensions {
  static constexpr const char* says[] = {
      "the tensor [{have}] lists {over}, which is no dimension"};
  static_assert(false, detail::sentence<ERROR_R1_tensor_names_dimensions, says>);
};
template <class... Facts>
struct ERROR_R1_element_type_comes_first {
  static constexpr const char* says[] = {
      "the tensor begins with {over} instead of the type of its elements"};
  static_assert(false, detail::sentence<ERROR_R1_element_type_comes_first, says>);
};
template <class... Facts>
struct ERROR_R1_operation_has_another_name {
  static constexpr const char* says[] = {
      "{op} is spelled otherwise here: {types}"};
  static_assert(false, detail::sentence<ERROR_R1_operation_has_another_name, says>);
};
template <class... Facts>
struct ERROR_R1_module_takes_other_arguments {
  static constexpr const char* says[] = {
      "the module {types} is not called with {over} alone",
      "the module {types} does not take these arguments",
      "the module does not take these arguments"};
  static_assert(false, detail::sentence<ERROR_R1_module_takes_other_arguments, says>);
};
template <class... Facts>
struct ERROR_R1_operation_takes_other_arguments {
  static constexpr const char* says[] = {
      "{op} over {over} does not take {types}",
      "{op} of [{have}] does not take {types}",
      "{op} does not take {types}",
      "{op} over {over} does not take these arguments",
      "{op} does not take tensors of [{have}]",
      "{op} does not take these arguments"};
  static_assert(false, detail::sentence<ERROR_R1_operation_takes_other_arguments, says>);
};
template <class... Facts>
struct ERROR_R2_shared_dimension_is_not_parallel {
  static constexpr const char* says[] = {
      "both operands of {op} have {over}, so the result would be a diagonal"};
  static_assert(false, detail::sentence<ERROR_R2_shared_dimension_is_not_parallel, says>);
};
template <class... Facts>
struct ERROR_R2_shared_dimension_pairs_elements_one_to_one {
  static constexpr const char* says[] = {
      "both operands of {op} have {over}, so each element meets one partner and nothing is compared"};
  static_assert(false, detail::sentence<ERROR_R2_shared_dimension_pairs_elements_one_to_one, says>);
};
template <class... Facts>
struct ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out {
  static constexpr const char* says[] = {
      "{op} from {first} to {second}: neither is the prime or out of the other"};
  static_assert(false, detail::sentence<ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out, says>);
};
template <class... Facts>
struct ERROR_R3_extents_differ {
  static constexpr const char* says[] = {
      "{op} takes {first} for {second}, but their extents differ: {over_n}"};
  static_assert(false, detail::sentence<ERROR_R3_extents_differ, says>);
};
template <class... Facts>
struct ERROR_R3_values_are_at_other_positions_than_the_weights {
  static constexpr const char* says[] = {
      "{op} goes over {over}, but the values are not there: {lacking}",
      "{op} over {over}: keys and values are at other positions"};
  static_assert(false, detail::sentence<ERROR_R3_values_are_at_other_positions_than_the_weights, says>);
};
template <class... Facts>
struct ERROR_R3_assigned_dimensions_differ {
  static constexpr const char* says[] = {
      "{op}: {changed}",
      "{op} over {over}: the operands have other dimensions than the state: {sides}"};
  static_assert(false, detail::sentence<ERROR_R3_assigned_dimensions_differ, says>);
};
template <class... Facts>
struct ERROR_R3_view_and_tensor_differ_in_type {
  static constexpr const char* says[] = {
      ("a view of [{shape}] looks at a tensor of [{shape2}]: dimensions, order and elements are the same, "
       "or it is no view"),
      "a view of [{shape}] looks at memory of another type, or at an expression, which has none"};
  static_assert(false, detail::sentence<ERROR_R3_view_and_tensor_differ_in_type, says>);
};
template <class... Facts>
struct ERROR_R3_elements_of_a_temporary_are_gone {
  static constexpr const char* says[] = {
      "the elements of a temporary of [{shape}] are gone at the end of the line: keep it in a variable"};
  static_assert(false, detail::sentence<ERROR_R3_elements_of_a_temporary_are_gone, says>);
};
template <class... Facts>
struct ERROR_R3_stored_order_lists_each_dimension_once {
  static constexpr const char* says[] = {
      "the stored order {types} does not list each of {have} once"};
  static_assert(false, detail::sentence<ERROR_R3_stored_order_lists_each_dimension_once, says>);
};
template <class... Facts>
struct ERROR_R4_extent_does_not_divide {
  static constexpr const char* says[] = {
      "`divided`: the extent of {first} is not divisible by that of {second}: {over_n}"};
  static_assert(false, detail::sentence<ERROR_R4_extent_does_not_divide, says>);
};
template <class... Facts>
struct ERROR_R4_composite_has_other_factors_or_order {
  static constexpr const char* says[] = {
      "{op} names {over}, but the operand's {composites} has other factors or another order",
      "{op} names {over}, which has other factors or another order than the operand's",
      "{op}: {sides}: factors or their order differ"};
  static_assert(false, detail::sentence<ERROR_R4_composite_has_other_factors_or_order, says>);
};
template <class... Facts>
struct ERROR_R4_composite_is_not_the_declared_dimension {
  static constexpr const char* says[] = {
      "{op}: {computed_only} is not {declared_only}, even of the same extent",
      "{op}: {changed}"};
  static_assert(false, detail::sentence<ERROR_R4_composite_is_not_the_declared_dimension, says>);
};
template <class... Facts>
struct ERROR_R5_weights_are_contracted_over_their_own_dimension {
  static constexpr const char* says[] = {
      "{op} goes over {over} beside weights that sum to one over {normalised}",
      "{op} goes over {over} beside weights over {weighted}"};
  static_assert(false, detail::sentence<ERROR_R5_weights_are_contracted_over_their_own_dimension, says>);
};
template <class... Facts>
struct ERROR_R5_log_probabilities_meet_probabilities {
  static constexpr const char* says[] = {
      "{op}: logarithms of probabilities meet probabilities over {normalised}",
      "{op}: logarithms of probabilities meet probabilities"};
  static_assert(false, detail::sentence<ERROR_R5_log_probabilities_meet_probabilities, says>);
};
template <class... Facts>
struct ERROR_R5_log_probabilities_are_taken_along_their_own_dimension {
  static constexpr const char* says[] = {
      "{op} takes elements along {first}, but the logarithms of probabilities are normalised over {second}"};
  static_assert(false, detail::sentence<ERROR_R5_log_probabilities_are_taken_along_their_own_dimension, says>);
};
template <class... Facts>
struct ERROR_R5_already_normalised {
  static constexpr const char* says[] = {
      "{op} goes over {over}, but its operand sums to one over {normalised} already",
      "{op} goes over {over}, but its operand is a product with weights over {weighted}",
      "{op}: its operand sums to one over {normalised} already",
      "{op} goes over {over}, but its operand is normalised already"};
  static_assert(false, detail::sentence<ERROR_R5_already_normalised, says>);
};
template <class... Facts>
struct ERROR_R5_weighted_product_is_reduced_over_its_weights_only {
  static constexpr const char* says[] = {
      ("{op} goes over {over}, but this product has weights over {weighted}, and is summed over {weighted} "
       "only"),
      "{op} goes over {over}, which is not that of the weights"};
  static_assert(false, detail::sentence<ERROR_R5_weighted_product_is_reduced_over_its_weights_only, says>);
};
template <class... Facts>
struct ERROR_R5_mean_divides_weights_that_already_sum_to_one {
  static constexpr const char* says[] = {
      "{op} over {over} divides by the extent, but the weights over {weighted} sum to one already",
      "{op} over {over} divides by the extent, but the weights over {normalised} sum to one already"};
  static_assert(false, detail::sentence<ERROR_R5_mean_divides_weights_that_already_sum_to_one, says>);
};
template <class... Facts>
struct ERROR_R5_softmax_over_a_single_element {
  static constexpr const char* says[] = {
      "{op} goes over {over}, which has a single element: every weight would be 1"};
  static_assert(false, detail::sentence<ERROR_R5_softmax_over_a_single_element, says>);
};
template <class... Facts>
struct ERROR_R5_declared_type_drops_or_invents_normalised {
  static constexpr const char* says[] = {
      "{op}: {changed}"};
  static_assert(false, detail::sentence<ERROR_R5_declared_type_drops_or_invents_normalised, says>);
};
template <class... Facts>
struct ERROR_R6_raw_products_are_scaled_first {
  static constexpr const char* says[] = {
      "{op} over {over} takes scores, but this product over {raw} is not scaled yet",
      "{op} takes scores, but this product over {raw} is not scaled yet",
      "{op} takes scores, but [{have}] is a product that is not scaled yet"};
  static_assert(false, detail::sentence<ERROR_R6_raw_products_are_scaled_first, says>);
};
template <class... Facts>
struct ERROR_R6_raw_product_was_multiplied_instead_of_scaled {
  static constexpr const char* says[] = {
      ("{op} over {over} takes scores, but the product over {raw} was multiplied by hand, which leaves it "
       "raw"),
      "{op} takes scores, but the product over {raw} was multiplied by hand, which leaves it raw"};
  static_assert(false, detail::sentence<ERROR_R6_raw_product_was_multiplied_instead_of_scaled, says>);
};
template <class... Facts>
struct ERROR_R6_scores_are_already_scaled {
  static constexpr const char* says[] = {
      "{op} scales scores over {score}, which are scaled already",
      "{op} over {over} scales what is scaled already",
      "{op} scales [{have}], which is scaled already"};
  static_assert(false, detail::sentence<ERROR_R6_scores_are_already_scaled, says>);
};
template <class... Facts>
struct ERROR_R6_scores_go_to_softmax {
  static constexpr const char* says[] = {
      "{op} over {over} is given scores over {score}: scores go to softmax"};
  static_assert(false, detail::sentence<ERROR_R6_scores_go_to_softmax, says>);
};
template <class... Facts>
struct ERROR_R6_scaled_takes_raw_products {
  static constexpr const char* says[] = {
      "{op} over {over} scales products of positions, and [{have}] is none",
      "{op} scales products of positions, and [{have}] is none"};
  static_assert(false, detail::sentence<ERROR_R6_scaled_takes_raw_products, says>);
};
template <class... Facts>
struct ERROR_R6_scaled_names_the_contracted_features {
  static constexpr const char* says[] = {
      "{op} names {over}, but the product was contracted over {raw}"};
  static_assert(false, detail::sentence<ERROR_R6_scaled_names_the_contracted_features, says>);
};
template <class... Facts>
struct ERROR_R6_stored_product_has_lost_the_extent_of_its_features {
  static constexpr const char* says[] = {
      "{op}: this product was stored, and the extent of {raw} was lost"};
  static_assert(false, detail::sentence<ERROR_R6_stored_product_has_lost_the_extent_of_its_features, says>);
};
template <class... Facts>
struct ERROR_R6_scores_are_products_of_positions {
  static constexpr const char* says[] = {
      "{op} over {over} relates positions to positions, but what remains is {free}",
      "{op} over {over} of [{lhave}] and [{rhave}] leaves no positions on each side"};
  static_assert(false, detail::sentence<ERROR_R6_scores_are_products_of_positions, says>);
};
template <class... Facts>
struct ERROR_R6_scores_are_contracted_only_after_softmax {
  static constexpr const char* says[] = {
      "{op} goes over {over}, but the product over {raw} has not been through softmax",
      "{op} goes over {over}, but the scores over {score} have not been through softmax"};
  static_assert(false, detail::sentence<ERROR_R6_scores_are_contracted_only_after_softmax, says>);
};
template <class... Facts>
struct ERROR_R6_declared_type_drops_or_invents_raw_or_score {
  static constexpr const char* says[] = {
      "{op}: {changed}"};
  static_assert(false, detail::sentence<ERROR_R6_declared_type_drops_or_invents_raw_or_score, says>);
};
template <class... Facts>
struct ERROR_R7_mask_needs_a_polarity_allow_or_block {
  static constexpr const char* says[] = {
      "{op} of [{lhave}] is given a tensor of bool [{rhave}] that does not say what true means",
      "{op} is given {types}, which does not say whether true means visible",
      "{operation} is given a tensor of bool [{have}] that does not say what true means",
      "a tensor of bool [{have}] does not say whether true means visible"};
  static_assert(false, detail::sentence<ERROR_R7_mask_needs_a_polarity_allow_or_block, says>);
};
template <class... Facts>
struct ERROR_R7_block_mask_needs_allow_of {
  static constexpr const char* says[] = {
      "{op} of [{lhave}] is given a block mask [{rhave}], where true means hidden",
      "{op} is given a block mask of {over}, where true means hidden",
      "{op} is given a block mask [{have}], where true means hidden"};
  static_assert(false, detail::sentence<ERROR_R7_block_mask_needs_allow_of, says>);
};
template <class... Facts>
struct ERROR_R7_given_mask_is_a_tensor_of_bool {
  static constexpr const char* says[] = {
      "{op} is given [{have}], which is no tensor of bool"};
  static_assert(false, detail::sentence<ERROR_R7_given_mask_is_a_tensor_of_bool, says>);
};
template <class... Facts>
struct ERROR_R7_tensor_of_bool_is_no_condition {
  static constexpr const char* says[] = {
      "a tensor of bool [{have}] is no single truth: it cannot be the condition of an if",
      "`&&`, `||` or `!` of {types}: a tensor of bool is no single truth"};
  static_assert(false, detail::sentence<ERROR_R7_tensor_of_bool_is_no_condition, says>);
};
template <class... Facts>
struct ERROR_R7_alibi_has_a_slope_for_each_head {
  static constexpr const char* says[] = {
      "{op} by ALiBi over {over}, which is no dimension of heads"};
  static_assert(false, detail::sentence<ERROR_R7_alibi_has_a_slope_for_each_head, says>);
};
template <class... Facts>
struct ERROR_R7_mask_is_no_condition {
  static constexpr const char* says[] = {
      "`&&` or `||` of {types}: a mask is no single truth"};
  static_assert(false, detail::sentence<ERROR_R7_mask_is_no_condition, says>);
};
template <class... Facts>
struct ERROR_R7_mask_has_dimensions_that_the_scores_lack {
  static constexpr const char* says[] = {
      "{op}: the mask or bias has {missing}, which the scores [{have}] lack",
      "{op}: the bias has {over}, which is not parallel",
      "{op} adds {over}, which the scores lack"};
  static_assert(false, detail::sentence<ERROR_R7_mask_has_dimensions_that_the_scores_lack, says>);
};
template <class... Facts>
struct ERROR_R7_masks_serve_no_common_dimension {
  static constexpr const char* says[] = {
      ("{op}: one mask hides along {over_of_first}, the other along {over_of_second}: no softmax follows "
       "both"),
      "{op}: the scores are masked for {masked_for}, and this mask is for {over}: no softmax follows both",
      "{op} of masks over {over}: no softmax follows both"};
  static_assert(false, detail::sentence<ERROR_R7_masks_serve_no_common_dimension, says>);
};
template <class... Facts>
struct ERROR_R7_mask_does_not_serve_this_dimension {
  static constexpr const char* says[] = {
      "{op} goes over {over}, but the mask hides {masked_for}: did you mean {op_word}<{masked_for}>?",
      "{op} goes over {over}, but the mask does not: it has {mask_dims}",
      "{op} goes over {over}, which the mask does not hide"};
  static_assert(false, detail::sentence<ERROR_R7_mask_does_not_serve_this_dimension, says>);
};
template <class... Facts>
struct ERROR_R7_masking_comes_before_softmax {
  static constexpr const char* says[] = {
      "{op} comes after softmax: its operand sums to one over {normalised} already",
      "{op} comes after softmax: its operand has weights over {weighted}",
      "{op} comes after softmax"};
  static_assert(false, detail::sentence<ERROR_R7_masking_comes_before_softmax, says>);
};
template <class... Facts>
struct ERROR_R7_masked_values_go_to_softmax_or_a_reduction {
  static constexpr const char* says[] = {
      ("{op} goes over {over}, but what is masked for {masked_for} goes to softmax or a reduction over {masked_for} "
       "first"),
      "{op}: what is masked for {masked_for} goes to softmax or a reduction over {masked_for} first",
      "{op} over {over} is given what is masked"};
  static_assert(false, detail::sentence<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, says>);
};
template <class... Facts>
struct ERROR_R7_masked_values_are_given_to_a_function {
  static constexpr const char* says[] = {
      "{op} comes after the mask for {masked_for}: functions come before"};
  static_assert(false, detail::sentence<ERROR_R7_masked_values_are_given_to_a_function, says>);
};
template <class... Facts>
struct ERROR_R7_scores_change_by_a_mask_a_bias_or_a_function {
  static constexpr const char* says[] = {
      "the scores [{have}] are given {types}, which is no mask, no bias and no function of scores",
      "{op} is given {types}, which is no mask, no bias and no function of scores"};
  static_assert(false, detail::sentence<ERROR_R7_scores_change_by_a_mask_a_bias_or_a_function, says>);
};
template <class... Facts>
struct ERROR_R7_mask_has_no_elements_to_print {
  static constexpr const char* says[] = {
      "printing: a mask of {over} has no elements until its extents are said"};
  static_assert(false, detail::sentence<ERROR_R7_mask_has_no_elements_to_print, says>);
};
template <class... Facts>
struct ERROR_R7_query_and_key_positions_are_related_or_have_origins {
  static constexpr const char* says[] = {
      ("{op} compares positions of {first} with positions of {second}: neither is the prime of the other, "
       "and no origins are said"),
      "{op} over {over} compares positions that are not related"};
  static_assert(false, detail::sentence<ERROR_R7_query_and_key_positions_are_related_or_have_origins, says>);
};
template <class... Facts>
struct ERROR_R7_lengths_are_no_whole_numbers_over_parallel_dimensions {
  static constexpr const char* says[] = {
      "{op} over {over} takes whole numbers as lengths, one for each batch; given is [{have}]",
      "{op} over {over} takes whole numbers as lengths; given is {types}",
      "{op} over {over} takes whole numbers as lengths"};
  static_assert(false, detail::sentence<ERROR_R7_lengths_are_no_whole_numbers_over_parallel_dimensions, says>);
};
template <class... Facts>
struct ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over {
  static constexpr const char* says[] = {
      "{op} goes over {over}, but the bias over {biased_for} is the same for all of them",
      "{op}: the bias [{rhave}] has no dimension that a softmax of [{lhave}] goes over",
      "{op} goes over {over}, but the bias is the same for all of them"};
  static_assert(false, detail::sentence<ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over, says>);
};
template <class... Facts>
struct ERROR_R7_bias_is_masked_instead_of_the_scores {
  static constexpr const char* says[] = {
      "{op}: what is masked for {masked_for} is not the scores but what they are combined with",
      "{op} is given a bias that is masked"};
  static_assert(false, detail::sentence<ERROR_R7_bias_is_masked_instead_of_the_scores, says>);
};
template <class... Facts>
struct ERROR_R7_declared_type_drops_or_invents_biased {
  static constexpr const char* says[] = {
      "{op}: {changed}"};
  static_assert(false, detail::sentence<ERROR_R7_declared_type_drops_or_invents_biased, says>);
};
template <class... Facts>
struct ERROR_R7_declared_type_drops_or_invents_masked {
  static constexpr const char* says[] = {
      "{op}: {changed}"};
  static_assert(false, detail::sentence<ERROR_R7_declared_type_drops_or_invents_masked, says>);
};
template <class... Facts>
struct ERROR_R8_neither_has_all_dimensions_of_the_other {
  static constexpr const char* says[] = {
      "{op}: the left operand alone has {left_only}, the right one alone {right_only}",
      "{op}: none of {shapes} has all dimensions of the others"};
  static_assert(false, detail::sentence<ERROR_R8_neither_has_all_dimensions_of_the_other, says>);
};
template <class... Facts>
struct ERROR_R8_assignment_never_broadcasts {
  static constexpr const char* says[] = {
      "{op} would repeat along {declared_only}, which the expression lacks",
      "{op}: {changed}"};
  static_assert(false, detail::sentence<ERROR_R8_assignment_never_broadcasts, says>);
};
template <class... Facts>
struct ERROR_R9_already_rotated {
  static constexpr const char* says[] = {
      "{op} over {over}: {rotated_feature} is rotated by {rotated_by} already"};
  static_assert(false, detail::sentence<ERROR_R9_already_rotated, says>);
};
template <class... Facts>
struct ERROR_R9_only_one_operand_is_rotated {
  static constexpr const char* says[] = {
      "{op} over {over}: only the left operand is rotated, in {left_rotated}",
      "{op} over {over}: only the right operand is rotated, in {right_rotated}",
      "{op}: only the left operand is rotated, in {left_rotated}",
      "{op}: only the right operand is rotated, in {right_rotated}",
      "{op} over {over}: the operands are not rotated alike, in {rotated_feature}",
      "{op}: the operands are not rotated alike, in {rotated_feature}"};
  static_assert(false, detail::sentence<ERROR_R9_only_one_operand_is_rotated, says>);
};
template <class... Facts>
struct ERROR_R9_operands_are_rotated_by_other_positions {
  static constexpr const char* says[] = {
      "{op} over {over}: both are rotated in {rotated_feature}, and not by the same positions",
      "{op}: both are rotated in {rotated_feature}, and not by the same positions"};
  static_assert(false, detail::sentence<ERROR_R9_operands_are_rotated_by_other_positions, says>);
};
template <class... Facts>
struct ERROR_R9_values_are_not_rotated {
  static constexpr const char* says[] = {
      "{op} over {over}: the values are rotated, in {rotated_feature}",
      "{op}: the values are rotated, in {rotated_feature}"};
  static_assert(false, detail::sentence<ERROR_R9_values_are_not_rotated, says>);
};
template <class... Facts>
struct ERROR_R9_rotary_takes_positions_and_the_features_of_a_head {
  static constexpr const char* says[] = {
      "{op} takes positions and the features of one head, and is given {over_n}"};
  static_assert(false, detail::sentence<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head, says>);
};
template <class... Facts>
struct ERROR_R9_angles_do_not_belong_to_the_rotated_positions {
  static constexpr const char* says[] = {
      "{op} over {over} of [{lhave}]: the positions or angles are [{rhave}]",
      "{op} over {over}: the positions or angles do not fit"};
  static_assert(false, detail::sentence<ERROR_R9_angles_do_not_belong_to_the_rotated_positions, says>);
};
template <class... Facts>
struct ERROR_R9_declared_type_drops_or_invents_rotated {
  static constexpr const char* says[] = {
      "{op}: {changed}"};
  static_assert(false, detail::sentence<ERROR_R9_declared_type_drops_or_invents_rotated, says>);
};
template <class... Facts>
struct ERROR_R10_operands_differ_in_another_dimension {
  static constexpr const char* says[] = {
      "{op} along {over}: {sides}",
      "{op} along {over}: the operands differ in their order, their elements or marks",
      "{op}: the operands differ in more than what is joined: {sides}"};
  static_assert(false, detail::sentence<ERROR_R10_operands_differ_in_another_dimension, says>);
};
template <class... Facts>
struct ERROR_R10_concat_of_a_static_extent_names_its_result {
  static constexpr const char* says[] = {
      "{op} along {over_n}: an extent that the compiler knows cannot grow"};
  static_assert(false, detail::sentence<ERROR_R10_concat_of_a_static_extent_names_its_result, says>);
};
template <class... Facts>
struct ERROR_R10_stack_has_another_extent {
  static constexpr const char* says[] = {
      "{op} makes {over_n}, but is given {types} operands"};
  static_assert(false, detail::sentence<ERROR_R10_stack_has_another_extent, says>);
};
template <class... Facts>
struct ERROR_R10_keys_and_values_grow_together {
  static constexpr const char* says[] = {
      "{op} along {over}: keys and values do not grow together: {sides}",
      "{op} along {over}: [{have}] comes alone, without its keys or values",
      "{op}: keys and values do not grow together: {sides}",
      "{op} along {over}: keys and values do not grow together"};
  static_assert(false, detail::sentence<ERROR_R10_keys_and_values_grow_together, says>);
};
template <class... Facts>
struct ERROR_R10_whole_numbers_are_stored_by_scales {
  static constexpr const char* says[] = {
      ("a cache of whole numbers takes a scale for its keys, one for its values, and its extents, but is "
       "given {over}"),
      "a cache of whole numbers takes a scale for its keys, one for its values, and its extents"};
  static_assert(false, detail::sentence<ERROR_R10_whole_numbers_are_stored_by_scales, says>);
};
template <class... Facts>
struct ERROR_R10_cache_grows_along_a_run_time_extent {
  static constexpr const char* says[] = {
      "a cache of [{have}] cannot grow along {over_n}: the extent is known to the compiler",
      "a cache cannot grow along {over_n}: the extent is known to the compiler"};
  static_assert(false, detail::sentence<ERROR_R10_cache_grows_along_a_run_time_extent, says>);
};
template <class... Facts>
struct ERROR_R10_cache_grows_by_whole_bytes {
  static constexpr const char* says[] = {
      "a cache of 4 bits [{have}] grows along {over}, where two positions would share a byte",
      "a cache of 4 bits grows along {over}, where two positions would share a byte"};
  static_assert(false, detail::sentence<ERROR_R10_cache_grows_by_whole_bytes, says>);
};
template <class... Facts>
struct ERROR_R11_every_head_against_every_head {
  static constexpr const char* says[] = {
      ("{op} over {over}: the left operand alone has {left_parallel}, the right one alone {right_parallel}: "
       "every head would meet every head"),
      "{op} over {over}: every head would meet every head: {sides}",
      "{op}: every head would meet every head: {sides}"};
  static_assert(false, detail::sentence<ERROR_R11_every_head_against_every_head, says>);
};
template <class... Facts>
struct ERROR_R12_weight_sums_over_heads_that_are_gone {
  static constexpr const char* says[] = {
      "{op} goes over {over}, but {lacking}: the heads are gone"};
  static_assert(false, detail::sentence<ERROR_R12_weight_sums_over_heads_that_are_gone, says>);
};
template <class... Facts>
struct ERROR_R12_weight_is_applied_the_wrong_way_round {
  static constexpr const char* says[] = {
      "{op} goes over {over}, the output of the weight, but the operand is the input: {lacking}",
      "{op} goes over {over}: the weight is applied the wrong way round"};
  static_assert(false, detail::sentence<ERROR_R12_weight_is_applied_the_wrong_way_round, says>);
};
template <class... Facts>
struct ERROR_R13_softmax_takes_attendable_or_choice {
  static constexpr const char* says[] = {
      "{op} goes over {over}, which {is} neither positions nor alternatives"};
  static_assert(false, detail::sentence<ERROR_R13_softmax_takes_attendable_or_choice, says>);
};
template <class... Facts>
struct ERROR_R13_norm_takes_features {
  static constexpr const char* says[] = {
      "{op} takes features, and is given {over_n}"};
  static_assert(false, detail::sentence<ERROR_R13_norm_takes_features, says>);
};
template <class... Facts>
struct ERROR_R13_needs_ordered_positions {
  static constexpr const char* says[] = {
      "{op} goes over {over}, whose elements have no positions"};
  static_assert(false, detail::sentence<ERROR_R13_needs_ordered_positions, says>);
};
template <class... Facts>
struct ERROR_R13_needs_real_numbers {
  static constexpr const char* says[] = {
      "{op} over {over} of whole numbers [{have}] needs real ones",
      "{op} of whole numbers [{have}] needs real ones",
      "{op} over {over} needs real numbers"};
  static_assert(false, detail::sentence<ERROR_R13_needs_real_numbers, says>);
};
template <class... Facts>
struct ERROR_R13_stored_numbers_are_widened_first {
  static constexpr const char* says[] = {
      "{op} over {over} computes with [{have}], whose elements are stored in 16 bits or fewer",
      "{op} computes with [{have}], whose elements are stored in 16 bits or fewer"};
  static_assert(false, detail::sentence<ERROR_R13_stored_numbers_are_widened_first, says>);
};
template <class... Facts>
struct ERROR_R13_window_does_not_fit {
  static constexpr const char* says[] = {
      "{op}: these extents do not fit each other: {over_n}"};
  static_assert(false, detail::sentence<ERROR_R13_window_does_not_fit, says>);
};
template <class... Facts>
struct ERROR_R13_sinusoid_takes_positions_and_features {
  static constexpr const char* says[] = {
      "`sinusoid` takes positions and features, and is given {over}"};
  static_assert(false, detail::sentence<ERROR_R13_sinusoid_takes_positions_and_features, says>);
};
template <class... Facts>
struct ERROR_R13_elements_do_not_fit_the_declared_type {
  static constexpr const char* says[] = {
      "{op}: elements of {computed} do not become {declared} without loss"};
  static_assert(false, detail::sentence<ERROR_R13_elements_do_not_fit_the_declared_type, says>);
};
template <class... Facts>
struct ERROR_R14_part_is_taken_from_a_summed_dimension {
  static constexpr const char* says[] = {
      "{op}: {over} is no part of a summed dimension of [{have}]"};
  static_assert(false, detail::sentence<ERROR_R14_part_is_taken_from_a_summed_dimension, says>);
};
template <class... Facts>
struct ERROR_R15_run_time_extents_are_given_once {
  static constexpr const char* says[] = {
      "a tensor of [{shape}] takes one extent for each dimension that the run decides; given: {given}",
      "a tensor of [{shape}] takes one extent for each dimension that the run decides",
      "{word} takes one extent for each of {over} that the run decides; given: {given}",
      "{word} takes one extent for each of {over} that the run decides",
      "{word} takes one extent for each dimension that the run decides"};
  static_assert(false, detail::sentence<ERROR_R15_run_time_extents_are_given_once, says>);
};
template <class... Facts>
struct ERROR_R15_tensor_is_made_from_elements_and_extents {
  static constexpr const char* says[] = {
      "a tensor of [{shape}] is made from its elements and its run-time extents, or from an expression"};
  static_assert(false, detail::sentence<ERROR_R15_tensor_is_made_from_elements_and_extents, says>);
};
template <class... Facts>
struct ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents {
  static constexpr const char* says[] = {
      "a view of [{shape}] is made from a pointer or a span of its elements, and its run-time extents"};
  static_assert(false, detail::sentence<ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents, says>);
};
template <class... Facts>
struct ERROR_R16_query_key_and_value_are_told_apart_by_dimensions {
  static constexpr const char* says[] = {
      "{op} goes over {over}, but {lacking}: a value or a query where a key belongs?",
      "{op} over {over}: query, key and value are mixed up: {sides}",
      "{op}: query, key and value are mixed up: {sides}",
      "{op}: [{have}] lacks what makes it a query, a key or a value",
      "{op} over {over}: query, key and value are mixed up"};
  static_assert(false, detail::sentence<ERROR_R16_query_key_and_value_are_told_apart_by_dimensions, says>);
};
template <class... Facts>
struct ERROR_R17_dimension_occurs_twice {
  static constexpr const char* says[] = {
      "{op}: {over} would occur twice in one tensor",
      "a tensor of [{shape}] lists {plain_dims} twice"};
  static_assert(false, detail::sentence<ERROR_R17_dimension_occurs_twice, says>);
};
template <class... Facts>
struct ERROR_R18_single_element_meets_its_whole_dimension {
  static constexpr const char* says[] = {
      "{op} over {over}: one element of {indexed} meets a whole tensor of {indexed}",
      "{op}: one element of {indexed} meets a whole tensor of {indexed}",
      "{op} over {over}: one element meets its whole dimension"};
  static_assert(false, detail::sentence<ERROR_R18_single_element_meets_its_whole_dimension, says>);
};
template <class... Facts>
struct ERROR_R18_more_elements_than_the_dimension_has {
  static constexpr const char* says[] = {
      "{op} takes more elements of {first} than there are: {over_n}"};
  static_assert(false, detail::sentence<ERROR_R18_more_elements_than_the_dimension_has, says>);
};
template <class... Facts>
struct ERROR_R18_ids_index_their_own_dimension_only {
  static constexpr const char* says[] = {
      "{op} takes an element of {over} by an id of {ids}",
      "{op} takes ids of {over_of_second} for {over_of_first}",
      "{op} computes with ids, which only index: [{lhave}] and [{rhave}]",
      "{op} over {over} computes with ids, which only index",
      "{op} computes with ids of [{have}], which only index",
      "{op} computes with ids, which only index"};
  static_assert(false, detail::sentence<ERROR_R18_ids_index_their_own_dimension_only, says>);
};
template <class... Facts>
struct ERROR_R18_ids_of_a_composite_are_split_first {
  static constexpr const char* says[] = {
      "{op} takes one id for {over}, which is made of others"};
  static_assert(false, detail::sentence<ERROR_R18_ids_of_a_composite_are_split_first, says>);
};
template <class... Facts>
struct ERROR_R18_slice_of_a_composite_names_a_plain_dimension {
  static constexpr const char* says[] = {
      "{op} cuts {over}, which is made of others, and does not name what it gives"};
  static_assert(false, detail::sentence<ERROR_R18_slice_of_a_composite_names_a_plain_dimension, says>);
};
template <class... Facts>
struct ERROR_R18_slice_of_a_static_extent_names_its_result {
  static constexpr const char* says[] = {
      "{op} cuts {over_n}, whose extent the compiler knows, and does not name what it gives"};
  static_assert(false, detail::sentence<ERROR_R18_slice_of_a_static_extent_names_its_result, says>);
};
template <class... Facts>
struct ERROR_R18_slice_is_longer_than_its_dimension {
  static constexpr const char* says[] = {
      "{op}: the result is longer than the dimension: {over_n}"};
  static_assert(false, detail::sentence<ERROR_R18_slice_is_longer_than_its_dimension, says>);
};
template <class... Facts>
struct ERROR_R18_slice_has_another_kind {
  static constexpr const char* says[] = {
      "{op} cuts {second} out of {first}, which is of another kind"};
  static_assert(false, detail::sentence<ERROR_R18_slice_has_another_kind, says>);
};
template <class... Facts>
struct ERROR_R18_element_is_taken_by_one_id_of_each_dimension {
  static constexpr const char* says[] = {
      "an element of [{have}] is taken by one id of each dimension, and given is {over}",
      "an element of [{have}] is taken by one id of each dimension"};
  static_assert(false, detail::sentence<ERROR_R18_element_is_taken_by_one_id_of_each_dimension, says>);
};
template <class... Facts>
struct ERROR_R19_packed_positions_need_their_documents {
  static constexpr const char* says[] = {
      "{op} would mix positions of several documents in {over}",
      "{op} of [{have}] would mix positions of several documents"};
  static_assert(false, detail::sentence<ERROR_R19_packed_positions_need_their_documents, says>);
};
template <class... Facts>
struct ERROR_R19_mean_over_all_documents_says_so {
  static constexpr const char* says[] = {
      "{op} takes the mean over the documents of {over} without saying so"};
  static_assert(false, detail::sentence<ERROR_R19_mean_over_all_documents_says_so, says>);
};
template <class... Facts>
struct ERROR_R21_operation_has_no_gradient {
  static constexpr const char* says[] = {
      "{op} of [{have}] has no derivative that is known",
      "{op} has no derivative that is known"};
  static_assert(false, detail::sentence<ERROR_R21_operation_has_no_gradient, says>);
};
template <class... Facts>
struct ERROR_R21_loss_is_one_number {
  static constexpr const char* says[] = {
      "the loss is no single number: it still has [{have}]"};
  static_assert(false, detail::sentence<ERROR_R21_loss_is_one_number, says>);
};
template <class... Facts>
struct ERROR_R21_model_has_no_parameters {
  static constexpr const char* says[] = {
      "the model {types} has no real numbers to differentiate by"};
  static_assert(false, detail::sentence<ERROR_R21_model_has_no_parameters, says>);
};
template <class... Facts>
struct ERROR_R21_member_hides_its_parameters {
  static constexpr const char* says[] = {
      "a member holds parameters that no walk finds: {types}"};
  static_assert(false, detail::sentence<ERROR_R21_member_hides_its_parameters, says>);
};
template <class... Facts>
struct ERROR_R21_module_does_not_take_its_element_type {
  static constexpr const char* says[] = {
      "the elements of a part stay as they are where the model is tracked, so it would not be trained: {types}"};
  static_assert(false, detail::sentence<ERROR_R21_module_does_not_take_its_element_type, says>);
};
template <class... Facts>
struct ERROR_R21_loss_has_no_tracked_operand {
  static constexpr const char* says[] = {
      "the loss [{have}] does not depend on the model that it is given",
      "the loss {types} does not depend on the model that it is given",
      "the loss does not depend on the model that it is given"};
  static_assert(false, detail::sentence<ERROR_R21_loss_has_no_tracked_operand, says>);
};
template <class... Facts>
struct ERROR_R21_loss_has_other_elements_than_the_model {
  static constexpr const char* says[] = {
      "{op}: the model has elements of {declared}, the loss of {computed}"};
  static_assert(false, detail::sentence<ERROR_R21_loss_has_other_elements_than_the_model, says>);
};
template <class... Facts>
struct ERROR_R21_declared_type_drops_the_gradient {
  static constexpr const char* says[] = {
      "{op}: the declared type has elements of {declared}, so the gradient of {computed} would end here"};
  static_assert(false, detail::sentence<ERROR_R21_declared_type_drops_the_gradient, says>);
};
template <class... Facts>
struct ERROR_R21_gradients_of_gradients_are_not_recorded {
  static constexpr const char* says[] = {
      "the model {types} is tracked already: there are no gradients of gradients"};
  static_assert(false, detail::sentence<ERROR_R21_gradients_of_gradients_are_not_recorded, says>);
};
template <class... Facts>
struct ERROR_R22_targets_have_other_dimensions {
  static constexpr const char* says[] = {
      "{op}: predictions and targets differ: {sides}",
      "{op} over {over}: predictions and targets have other dimensions",
      "{op}: predictions [{lhave}] and targets [{rhave}] differ in their elements"};
  static_assert(false, detail::sentence<ERROR_R22_targets_have_other_dimensions, says>);
};
template <class... Facts>
struct ERROR_R22_logits_are_log_probabilities {
  static constexpr const char* says[] = {
      "{op} is given logarithms of probabilities [{have}] instead of logits"};
  static_assert(false, detail::sentence<ERROR_R22_logits_are_log_probabilities, says>);
};
template <class... Facts>
struct ERROR_R22_mean_of_an_average_is_added {
  static constexpr const char* says[] = {
      "{op}: an average over {over}, which is not divided yet, meets what is no average over the same dimensions"};
  static_assert(false, detail::sentence<ERROR_R22_mean_of_an_average_is_added, says>);
};
template <class... Facts>
struct ERROR_R22_average_becomes_a_number_by_mean_or_value {
  static constexpr const char* says[] = {
      "an average over {over} is no number and no tensor yet"};
  static_assert(false, detail::sentence<ERROR_R22_average_becomes_a_number_by_mean_or_value, says>);
};
template <class... Facts>
struct ERROR_R22_logits_are_probabilities {
  static constexpr const char* says[] = {
      "{op} is given probabilities [{have}] instead of logits"};
  static_assert(false, detail::sentence<ERROR_R22_logits_are_probabilities, says>);
};
template <class... Facts>
struct ERROR_R22_mean_goes_over_the_elements_of_the_loss {
  static constexpr const char* says[] = {
      "{op} takes the mean over {over}, but the elements of the loss are [{have}]"};
  static_assert(false, detail::sentence<ERROR_R22_mean_goes_over_the_elements_of_the_loss, says>);
};
template <class... Facts>
struct ERROR_R22_targets_sum_to_one_over_another_dimension {
  static constexpr const char* says[] = {
      "{op} goes over {over}, but the targets sum to one over {normalised}",
      "{op} goes over {over}, but the targets do not sum to one over it"};
  static_assert(false, detail::sentence<ERROR_R22_targets_sum_to_one_over_another_dimension, says>);
};
template <class... Facts>
struct ERROR_R22_weights_have_other_dimensions {
  static constexpr const char* says[] = {
      "{op}: what weighs the loss over {over} has the dimensions [{have}]",
      "{op} over {over}: what weighs the loss has other dimensions"};
  static_assert(false, detail::sentence<ERROR_R22_weights_have_other_dimensions, says>);
};
template <class... Facts>
struct ERROR_R22_gradient_belongs_to_another_model {
  static constexpr const char* says[] = {
      "the step of a model {over_of_first} is given a gradient {over_of_second}"};
  static_assert(false, detail::sentence<ERROR_R22_gradient_belongs_to_another_model, says>);
};
template <class... Facts>
struct ERROR_R22_batches_are_added_as_averages {
  static constexpr const char* says[] = {
      "the loss that is accumulated is {over}, and not an average"};
  static_assert(false, detail::sentence<ERROR_R22_batches_are_added_as_averages, says>);
};

}  // namespace dimwise

#endif
