#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compile errors of dimwise as sentences: reads what a compiler prints, and says what its errors mean.

    g++ -std=c++20 attention.cpp 2>&1 | dimwise-errors           # reads a compiler's output
    cmake --build build 2>&1 | dimwise-errors
    dimwise-errors g++ -std=c++20 attention.cpp                  # runs the compiler; ends with its exit code
    cmake -DCMAKE_CXX_COMPILER_LAUNCHER=dimwise-errors ...       # the same for a whole build

Each error of dimwise (a type ERROR_R..<..> in what g++ or clang prints) becomes: the place and one sentence with the names of
the program, the line, the shapes below one another with the culprit marked, and the cure. All other text passes as it is, byte for
byte. Colours appear on a terminal only, and not where NO_COLOR is set. Installed by CMake as the program dimwise-errors. Standard
library only.
"""

import difflib
import os
import re
import signal
import subprocess
import sys
import textwrap

# --- what is said -----------------------------------------------------------------------------------------------------

# For each error: what is marked in the shapes, and its sentences. The first one is taken whose facts are all there: {op} is the
# operation, {over} the dimensions that it names (with extents: {over_n}; one by one: {first}, {second}), {have} the operand's
# dimensions, {lacking} which operand lacks which of them, {left_only} and {right_only} what only one of two has, {shared} what both
# have, {changed} how a declared type and its expression differ, {types} what else was given, {raw}, {normalised}, ... what such a
# mark of an operand names, {composites} the products and sums among the dimensions.
SENTENCES = {
    "ERROR_R1_contracted_dimension_is_not_in_both": (
        "lacking", "{op} goes over {over}, but {lacking}", "{op} goes over {over}, which not both operands have"),
    "ERROR_R1_operation_names_its_dimension": (
        "over+types", "{op} is given {types} where it names its dimensions", "{op} over {over} names no dimension of [{lhave}] and [{rhave}]",
        "{op} does not name the dimension of [{have}] that it goes over", "{op} does not name its dimension"),
    "ERROR_R1_dimension_is_not_in_the_operand": (
        "over", "{op} names {missing}, but its operand has {have}", "{op} names {over}, but not every operand has it",
        "{op} names {over}, which is not in its operand"),
    "ERROR_R1_tensor_names_dimensions": ("over", "the tensor [{have}] lists {over}, which is no dimension"),
    "ERROR_R1_element_type_comes_first": ("over", "the tensor begins with {over} instead of the type of its elements"),
    "ERROR_R1_operation_has_another_name": ("types", "{op} is spelled otherwise here: {types}"),
    "ERROR_R1_module_takes_other_arguments": (
        "over+types", "the module {types} is not called with {over} alone", "the module {types} does not take these arguments",
        "the module does not take these arguments"),
    "ERROR_R1_operation_takes_other_arguments": (
        "types", "{op} over {over} does not take {types}", "{op} of [{have}] does not take {types}", "{op} does not take {types}",
        "{op} over {over} does not take these arguments", "{op} does not take tensors of [{have}]",
        "{op} does not take these arguments"),
    "ERROR_R2_shared_dimension_is_not_parallel": (
        "over", "both operands of {op} have {over}, so the result would be a diagonal"),
    "ERROR_R2_shared_dimension_pairs_elements_one_to_one": (
        "over", "both operands of {op} have {over}, so each element meets one partner and nothing is compared"),
    "ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out": (
        "over", "{op} from {first} to {second}: neither is the prime or out of the other"),
    "ERROR_R3_extents_differ": ("over", "{op} takes {first} for {second}, but their extents differ: {over_n}"),
    "ERROR_R3_values_are_at_other_positions_than_the_weights": (
        "lacking", "{op} goes over {over}, but the values are not there: {lacking}", "{op} over {over}: keys and values are at other positions"),
    "ERROR_R3_assigned_dimensions_differ": (
        "differing", "{op}: {changed}", "{op} over {over}: the operands have other dimensions than the state: {sides}"),
    "ERROR_R3_view_and_tensor_differ_in_type": (
        "differing", "a view of [{shape}] looks at a tensor of [{shape2}]: dimensions, order and elements are the same, or it is no view",
        "a view of [{shape}] looks at memory of another type, or at an expression, which has none"),
    "ERROR_R3_elements_of_a_temporary_are_gone": ("all", "the elements of a temporary of [{shape}] are gone at the end of the line: keep it in a variable"),
    "ERROR_R3_stored_order_lists_each_dimension_once": (
        "differing", "the stored order {types} does not list each of {have} once"),
    "ERROR_R4_extent_does_not_divide": (
        "over", "`divided`: the extent of {first} is not divisible by that of {second}: {over_n}"),
    "ERROR_R4_composite_has_other_factors_or_order": (
        "over+composites", "{op} names {over}, but the operand's {composites} has other factors or another order",
        "{op} names {over}, which has other factors or another order than the operand's", "{op}: {sides}: factors or their order differ"),
    "ERROR_R4_composite_is_not_the_declared_dimension": (
        "differing", "{op}: {computed_only} is not {declared_only}, even of the same extent", "{op}: {changed}"),
    "ERROR_R5_weights_are_contracted_over_their_own_dimension": (
        "over+normalised", "{op} goes over {over} beside weights that sum to one over {normalised}",
        "{op} goes over {over} beside weights over {weighted}"),
    "ERROR_R5_log_probabilities_meet_probabilities": (
        "normalised", "{op}: logarithms of probabilities meet probabilities over {normalised}", "{op}: logarithms of probabilities meet probabilities"),
    "ERROR_R5_log_probabilities_are_taken_along_their_own_dimension": (
        "over", "{op} takes elements along {first}, but the logarithms of probabilities are normalised over {second}"),
    "ERROR_R5_already_normalised": (
        "over+normalised+weighted", "{op} goes over {over}, but its operand sums to one over {normalised} already",
        "{op} goes over {over}, but its operand is a product with weights over {weighted}", "{op}: its operand sums to one over {normalised} already",
        "{op} goes over {over}, but its operand is normalised already"),
    "ERROR_R5_weighted_product_is_reduced_over_its_weights_only": (
        "over+weighted", "{op} goes over {over}, but this product has weights over {weighted}, and is summed over {weighted} only",
        "{op} goes over {over}, which is not that of the weights"),
    "ERROR_R5_mean_divides_weights_that_already_sum_to_one": (
        "over+weighted+normalised", "{op} over {over} divides by the extent, but the weights over {weighted} sum to one already",
        "{op} over {over} divides by the extent, but the weights over {normalised} sum to one already"),
    "ERROR_R5_softmax_over_a_single_element": ("over", "{op} goes over {over}, which has a single element: every weight would be 1"),
    "ERROR_R5_alternatives_are_chosen_by_weights_over_positions": (
        "over+normalised+log_normalised", "{op} chooses among {over}, but the weights sum to one over {normalised}",
        "{op} chooses among {over}, but the logarithms are of weights that sum to one over {log_normalised}"),
    "ERROR_R5_declared_type_drops_or_invents_normalised": ("differing", "{op}: {changed}"),
    "ERROR_R6_raw_products_are_scaled_first": (
        "raw", "{op} over {over} takes scores, but this product over {raw} is not scaled yet",
        "{op} takes scores, but this product over {raw} is not scaled yet", "{op} takes scores, but [{have}] is a product that is not scaled yet"),
    "ERROR_R6_raw_product_was_multiplied_instead_of_scaled": (
        "raw", "{op} over {over} takes scores, but the product over {raw} was multiplied by hand, which leaves it raw",
        "{op} takes scores, but the product over {raw} was multiplied by hand, which leaves it raw"),
    "ERROR_R6_scores_are_already_scaled": (
        "score", "{op} scales scores over {score}, which are scaled already", "{op} over {over} scales what is scaled already",
        "{op} scales [{have}], which is scaled already"),
    "ERROR_R6_scores_go_to_softmax": ("score", "{op} over {over} is given scores over {score}: scores go to softmax"),
    "ERROR_R6_scaled_takes_raw_products": (
        "over", "{op} over {over} scales products of positions, and [{have}] is none", "{op} scales products of positions, and [{have}] is none"),
    "ERROR_R6_scaled_names_the_contracted_features": ("over+raw", "{op} names {over}, but the product was contracted over {raw}"),
    "ERROR_R6_stored_product_has_lost_the_extent_of_its_features": (
        "raw", "{op}: this product was stored, and the extent of {raw} was lost"),
    "ERROR_R6_scores_are_products_of_positions": (
        "free", "{op} over {over} relates positions to positions, but what remains is {free}",
        "{op} over {over} of [{lhave}] and [{rhave}] leaves no positions on each side"),
    "ERROR_R6_scores_are_contracted_only_after_softmax": (
        "over+raw+score", "{op} goes over {over}, but the product over {raw} has not been through softmax",
        "{op} goes over {over}, but the scores over {score} have not been through softmax"),
    "ERROR_R6_declared_type_drops_or_invents_raw_or_score": ("differing", "{op}: {changed}"),
    "ERROR_R7_mask_needs_a_polarity_allow_or_block": (
        "types", "{op} of [{lhave}] is given a tensor of bool [{rhave}] that does not say what true means", "{op} is given {types}, which does not say whether true means visible",
        "{operation} is given a tensor of bool [{have}] that does not say what true means", "a tensor of bool [{have}] does not say whether true means visible"),
    "ERROR_R7_block_mask_needs_allow_of": (
        "right", "{op} of [{lhave}] is given a block mask [{rhave}], where true means hidden", "{op} is given a block mask of {over}, where true means hidden",
        "{op} is given a block mask [{have}], where true means hidden"),
    "ERROR_R7_given_mask_is_a_tensor_of_bool": ("all", "{op} is given [{have}], which is no tensor of bool"),
    "ERROR_R7_tensor_of_bool_is_no_condition": (
        "all+types", "a tensor of bool [{have}] is no single truth: it cannot be the condition of an if",
        "`&&`, `||` or `!` of {types}: a tensor of bool is no single truth"),
    "ERROR_R7_alibi_has_a_slope_for_each_head": ("over", "{op} by ALiBi over {over}, which is no dimension of heads"),
    "ERROR_R7_mask_is_no_condition": ("types", "`&&` or `||` of {types}: a mask is no single truth"),
    "ERROR_R7_mask_has_dimensions_that_the_scores_lack": (
        "missing", "{op}: the mask or bias has {missing}, which the scores [{have}] lack", "{op}: the bias has {over}, which is not parallel",
        "{op} adds {over}, which the scores lack"),
    "ERROR_R7_masks_serve_no_common_dimension": (
        "over", "{op}: one mask hides along {over_of_first}, the other along {over_of_second}: no softmax follows both",
        "{op}: the scores are masked for {masked_for}, and this mask is for {over}: no softmax follows both", "{op} of masks over {over}: no softmax follows both"),
    "ERROR_R7_mask_does_not_serve_this_dimension": (
        "over+masked_for", "{op} goes over {over}, but the mask hides {masked_for}: did you mean {op_word}<{masked_for}>?",
        "{op} goes over {over}, but the mask does not: it has {mask_dims}", "{op} goes over {over}, which the mask does not hide"),
    "ERROR_R7_masking_comes_before_softmax": (
        "normalised+weighted", "{op} comes after softmax: its operand sums to one over {normalised} already",
        "{op} comes after softmax: its operand has weights over {weighted}", "{op} comes after softmax"),
    "ERROR_R7_masked_values_go_to_softmax_or_a_reduction": (
        "masked_for", "{op} goes over {over}, but what is masked for {masked_for} goes to softmax or a reduction over {masked_for} first",
        "{op}: what is masked for {masked_for} goes to softmax or a reduction over {masked_for} first", "{op} over {over} is given what is masked"),
    "ERROR_R7_masked_values_are_given_to_a_function": (
        "masked_for", "{op} comes after the mask for {masked_for}: functions come before"),
    "ERROR_R7_scores_change_by_a_mask_a_bias_or_a_function": (
        "types", "the scores [{have}] are given {types}, which is no mask, no bias and no function of scores",
        "{op} is given {types}, which is no mask, no bias and no function of scores"),
    "ERROR_R7_mask_has_no_elements_to_print": ("over", "printing: a mask of {over} has no elements until its extents are said"),
    "ERROR_R7_query_and_key_positions_are_related_or_have_origins": (
        "over", "{op} compares positions of {first} with positions of {second}: neither is the prime of the other, and no origins are said",
        "{op} over {over} compares positions that are not related"),
    "ERROR_R7_lengths_are_no_whole_numbers_over_parallel_dimensions": (
        "over", "{op} over {over} takes whole numbers as lengths, one for each batch; given is [{have}]",
        "{op} over {over} takes whole numbers as lengths; given is {types}", "{op} over {over} takes whole numbers as lengths"),
    "ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over": (
        "over+biased_for", "{op} goes over {over}, but the bias over {biased_for} is the same for all of them",
        "{op}: the bias [{rhave}] has no dimension that a softmax of [{lhave}] goes over", "{op} goes over {over}, but the bias is the same for all of them"),
    "ERROR_R7_bias_is_masked_instead_of_the_scores": (
        "masked_for", "{op}: what is masked for {masked_for} is not the scores but what they are combined with", "{op} is given a bias that is masked"),
    "ERROR_R7_declared_type_drops_or_invents_biased": ("differing", "{op}: {changed}"),
    "ERROR_R7_declared_type_drops_or_invents_masked": ("differing", "{op}: {changed}"),
    "ERROR_R8_neither_has_all_dimensions_of_the_other": (
        "differing", "{op}: the left operand alone has {left_only}, the right one alone {right_only}",
        "{op}: none of {shapes} has all dimensions of the others"),
    "ERROR_R8_assignment_never_broadcasts": ("differing", "{op} would repeat along {declared_only}, which the expression lacks", "{op}: {changed}"),
    "ERROR_R9_already_rotated": ("rotated", "{op} over {over}: {rotated_feature} is rotated by {rotated_by} already"),
    "ERROR_R9_only_one_operand_is_rotated": (
        "rotated", "{op} over {over}: only the left operand is rotated, in {left_rotated}", "{op} over {over}: only the right operand is rotated, in {right_rotated}",
        "{op}: only the left operand is rotated, in {left_rotated}", "{op}: only the right operand is rotated, in {right_rotated}",
        "{op} over {over}: the operands are not rotated alike, in {rotated_feature}", "{op}: the operands are not rotated alike, in {rotated_feature}"),
    "ERROR_R9_operands_are_rotated_by_other_positions": (
        "rotated", "{op} over {over}: both are rotated in {rotated_feature}, and not by the same positions",
        "{op}: both are rotated in {rotated_feature}, and not by the same positions"),
    "ERROR_R9_values_are_not_rotated": (
        "rotated", "{op} over {over}: the values are rotated, in {rotated_feature}", "{op}: the values are rotated, in {rotated_feature}"),
    "ERROR_R9_rotary_takes_positions_and_the_features_of_a_head": (
        "over", "{op} takes positions and the features of one head, and is given {over_n}"),
    "ERROR_R9_angles_do_not_belong_to_the_rotated_positions": (
        "over", "{op} over {over} of [{lhave}]: the positions or angles are [{rhave}]", "{op} over {over}: the positions or angles do not fit"),
    "ERROR_R9_declared_type_drops_or_invents_rotated": ("differing", "{op}: {changed}"),
    "ERROR_R10_operands_differ_in_another_dimension": (
        "differing", "{op} along {over}: {sides}", "{op} along {over}: the operands differ in their order, their elements or marks",
        "{op}: the operands differ in more than what is joined: {sides}"),
    "ERROR_R10_concat_of_a_static_extent_names_its_result": ("over", "{op} along {over_n}: an extent that the compiler knows cannot grow"),
    "ERROR_R10_stack_has_another_extent": ("over", "{op} makes {over_n}, but is given {types} operands"),
    "ERROR_R10_keys_and_values_grow_together": (
        "over", "{op} along {over}: keys and values do not grow together: {sides}", "{op} along {over}: [{have}] comes alone, without its keys or values",
        "{op}: keys and values do not grow together: {sides}", "{op} along {over}: keys and values do not grow together"),
    "ERROR_R10_whole_numbers_are_stored_by_scales": (
        "over", "a cache of whole numbers takes a scale for its keys, one for its values, and its extents, but is given {over}", "a cache of whole numbers takes a scale for its keys, one for its values, and its extents"),
    "ERROR_R10_cache_grows_along_a_run_time_extent": ("over", "a cache of [{have}] cannot grow along {over_n}: the extent is known to the compiler", "a cache cannot grow along {over_n}: the extent is known to the compiler"),
    "ERROR_R10_cache_grows_by_whole_bytes": ("over", "a cache of 4 bits [{have}] grows along {over}, where two positions would share a byte", "a cache of 4 bits grows along {over}, where two positions would share a byte"),
    "ERROR_R11_every_head_against_every_head": (
        "differing", "{op} over {over}: the left operand alone has {left_parallel}, the right one alone {right_parallel}: every head would meet every head",
        "{op} over {over}: every head would meet every head: {sides}", "{op}: every head would meet every head: {sides}"),
    "ERROR_R12_weight_sums_over_heads_that_are_gone": ("lacking", "{op} goes over {over}, but {lacking}: the heads are gone"),
    "ERROR_R12_weight_is_applied_the_wrong_way_round": ("lacking", "{op} goes over {over}, the output of the weight, but the operand is the input: {lacking}", "{op} goes over {over}: the weight is applied the wrong way round"),
    "ERROR_R13_softmax_takes_attendable_or_choice": ("over", "{op} goes over {over}, which {is} neither positions nor alternatives"),
    "ERROR_R13_norm_takes_features": ("over", "{op} takes features, and is given {over_n}"),
    "ERROR_R13_needs_ordered_positions": ("over", "{op} goes over {over}, whose elements have no positions"),
    "ERROR_R13_needs_real_numbers": ("all", "{op} over {over} of whole numbers [{have}] needs real ones", "{op} of whole numbers [{have}] needs real ones", "{op} over {over} needs real numbers"),
    "ERROR_R13_stored_numbers_are_widened_first": (
        "all", "{op} over {over} computes with [{have}], whose elements are stored in 16 bits or fewer", "{op} computes with [{have}], whose elements are stored in 16 bits or fewer"),
    "ERROR_R13_window_does_not_fit": ("over", "{op}: these extents do not fit each other: {over_n}"),
    "ERROR_R13_sinusoid_takes_positions_and_features": ("over", "`sinusoid` takes positions and features, and is given {over}"),
    "ERROR_R13_elements_do_not_fit_the_declared_type": ("differing", "{op}: elements of {computed} do not become {declared} without loss"),
    "ERROR_R14_part_is_taken_from_a_summed_dimension": ("over", "{op}: {over} is no part of a summed dimension of [{have}]"),
    "ERROR_R15_run_time_extents_are_given_once": (
        "given+types", "a tensor of [{shape}] takes one extent for each dimension that the run decides; given: {given}",
        "a tensor of [{shape}] takes one extent for each dimension that the run decides",
        "{word} takes one extent for each of {over} that the run decides; given: {given}", "{word} takes one extent for each of {over} that the run decides",
        "{word} takes one extent for each dimension that the run decides"),
    "ERROR_R15_tensor_is_made_from_elements_and_extents": ("all", "a tensor of [{shape}] is made from its elements and its run-time extents, or from an expression"),
    "ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents": ("all", "a view of [{shape}] is made from a pointer or a span of its elements, and its run-time extents"),
    "ERROR_R16_query_key_and_value_are_told_apart_by_dimensions": (
        "lacking", "{op} goes over {over}, but {lacking}: a value or a query where a key belongs?", "{op} over {over}: query, key and value are mixed up: {sides}",
        "{op}: query, key and value are mixed up: {sides}", "{op}: [{have}] lacks what makes it a query, a key or a value", "{op} over {over}: query, key and value are mixed up"),
    "ERROR_R17_dimension_occurs_twice": (
        "over+twice", "{op}: {over} would occur twice in one tensor", "a tensor of [{shape}] lists {plain_dims} twice"),
    "ERROR_R18_single_element_meets_its_whole_dimension": (
        "indexed", "{op} over {over}: one element of {indexed} meets a whole tensor of {indexed}", "{op}: one element of {indexed} meets a whole tensor of {indexed}",
        "{op} over {over}: one element meets its whole dimension"),
    "ERROR_R18_more_elements_than_the_dimension_has": ("over", "{op} takes more elements of {first} than there are: {over_n}"),
    "ERROR_R18_ids_index_their_own_dimension_only": (
        "over+ids", "{op} takes an element of {over} by an id of {ids}", "{op} takes ids of {over_of_second} for {over_of_first}", "{op} computes with ids, which only index: [{lhave}] and [{rhave}]",
        "{op} over {over} computes with ids, which only index", "{op} computes with ids of [{have}], which only index", "{op} computes with ids, which only index"),
    "ERROR_R18_ids_of_a_composite_are_split_first": ("over", "{op} takes one id for {over}, which is made of others"),
    "ERROR_R18_slice_of_a_composite_names_a_plain_dimension": ("over", "{op} cuts {over}, which is made of others, and does not name what it gives"),
    "ERROR_R18_slice_of_a_static_extent_names_its_result": ("over", "{op} cuts {over_n}, whose extent the compiler knows, and does not name what it gives"),
    "ERROR_R18_slice_is_longer_than_its_dimension": ("over", "{op}: the result is longer than the dimension: {over_n}"),
    "ERROR_R18_slice_has_another_kind": ("over", "{op} cuts {second} out of {first}, which is of another kind"),
    "ERROR_R18_element_is_taken_by_one_id_of_each_dimension": ("over", "an element of [{have}] is taken by one id of each dimension, and given is {over}", "an element of [{have}] is taken by one id of each dimension"),
    "ERROR_R19_packed_positions_need_their_documents": (
        "over", "{op} would mix positions of several documents in {over}", "{op} of [{have}] would mix positions of several documents"),
    "ERROR_R19_mean_over_all_documents_says_so": ("over", "{op} takes the mean over the documents of {over} without saying so"),
    "ERROR_R21_operation_has_no_gradient": ("all", "{op} of [{have}] has no derivative that is known", "{op} has no derivative that is known"),
    "ERROR_R21_loss_is_one_number": ("all", "the loss is no single number: it still has [{have}]"),
    "ERROR_R21_model_has_no_parameters": ("types", "the model {types} has no real numbers to differentiate by"),
    "ERROR_R21_member_hides_its_parameters": ("types", "a member holds parameters that no walk finds: {types}"),
    "ERROR_R21_module_does_not_take_its_element_type": ("types", "the elements of a part stay as they are where the model is tracked, so it would not be trained: {types}"),
    "ERROR_R21_loss_has_no_tracked_operand": ("all+types", "the loss [{have}] does not depend on the model that it is given", "the loss {types} does not depend on the model that it is given",
        "the loss does not depend on the model that it is given"),
    "ERROR_R21_loss_has_other_elements_than_the_model": (
        "differing", "{op}: the model has elements of {declared}, the loss of {computed}"),
    "ERROR_R21_declared_type_drops_the_gradient": (
        "differing", "{op}: the declared type has elements of {declared}, so the gradient of {computed} would end here"),
    "ERROR_R21_gradients_of_gradients_are_not_recorded": ("types", "the model {types} is tracked already: there are no gradients of gradients"),
    "ERROR_R22_targets_have_other_dimensions": (
        "differing", "{op}: predictions and targets differ: {sides}", "{op} over {over}: predictions and targets have other dimensions",
        "{op}: predictions [{lhave}] and targets [{rhave}] differ in their elements"),
    "ERROR_R22_logits_are_log_probabilities": ("all", "{op} is given logarithms of probabilities [{have}] instead of logits"),
    "ERROR_R22_mean_of_an_average_is_added": ("over", "{op}: an average over {over}, which is not divided yet, meets what is no average over the same dimensions"),
    "ERROR_R22_average_becomes_a_number_by_mean_or_value": ("over", "an average over {over} is no number and no tensor yet"),
    "ERROR_R22_logits_are_probabilities": ("all", "{op} is given probabilities [{have}] instead of logits"),
    "ERROR_R22_mean_goes_over_the_elements_of_the_loss": ("over", "{op} takes the mean over {over}, but the elements of the loss are [{have}]"),
    "ERROR_R22_student_and_teacher_are_exchanged": ("right", "{op}: the teacher [{rhave}] learns and the student is a constant: the student comes first"),
    "ERROR_R22_targets_are_log_probabilities": (
        "log_normalised", "{op}: the targets are logarithms of probabilities over {log_normalised}",
        "{op}: the targets are logarithms of probabilities"),
    "ERROR_R22_targets_sum_to_one_over_another_dimension": ("over+normalised", "{op} goes over {over}, but the targets sum to one over {normalised}", "{op} goes over {over}, but the targets do not sum to one over it"),
    "ERROR_R22_weights_have_other_dimensions": ("over", "{op}: what weighs the loss over {over} has the dimensions [{have}]", "{op} over {over}: what weighs the loss has other dimensions"),
    "ERROR_R22_gradient_belongs_to_another_model": ("over", "the step of a model {over_of_first} is given a gradient {over_of_second}"),
    "ERROR_R22_batches_are_added_as_averages": ("over", "the loss that is accumulated is {over}, and not an average"),
}

# What to do about each. In docs/errors.md, too.
CURES = {
    "ERROR_R7_tensor_of_bool_is_no_condition":
        "Choose element by element with `where(a == b, x, y)`, or make a mask of the comparison, `allow(a < b)`, and of two "
        "`allow(a < b) & allow(b < c)`. To ask about all "
        "elements, count them: `sum<seq>(indicator(allow(a != b)))`, and read the number.",
    "ERROR_R7_alibi_has_a_slope_for_each_head":
        "Name the heads last: `alibi<seq, key, heads>{}`, where `struct heads : heads_dim<> {}`.",
    "ERROR_R7_mask_is_no_condition":
        "Combine masks with `&` and `|`: `causal<seq, key>{} & allow(is_word)`.",
    "ERROR_R16_query_key_and_value_are_told_apart_by_dimensions":
        "Give `scores` the queries and the keys: both have the features it names. Values have features of their own, `d_v`.",
    "ERROR_R12_weight_sums_over_heads_that_are_gone":
        "Contract the context with its heads: `contract<heads, d_v>(context, w_o)`, without averaging or indexing them before.",
    "ERROR_R6_scores_go_to_softmax":
        "Take `softmax<key>(scores)`; to use the numbers as they are, say `plain(scores)`.",
    "ERROR_R1_contracted_dimension_is_not_in_both":
        "Name a dimension that both operands have. If one side has it under another name, `rename` it to its prime "
        "or back. If one side keeps it inside a composite, `split` that first.",
    "ERROR_R1_operation_names_its_dimension":
        "Say over which dimension, in the angle brackets: `contract<d_model>(x, w)`, `softmax<key>(s)`, `mean<seq>(x)`.",
    "ERROR_R1_dimension_is_not_in_the_operand":
        "Name a dimension of the operand. An earlier step may have removed it: the error lists what the operand has.",
    "ERROR_R2_shared_dimension_is_not_parallel":
        "Scores of positions against positions: `rename<seq, key>` one side. A sum over it: name it in `contract`. "
        "Each position by itself: `contract<experts>(gates, outputs, along<seq>{})`.",
    "ERROR_R2_shared_dimension_pairs_elements_one_to_one":
        "Call the dimension of one operand by another name: a contrastive loss relabels one batch to candidates, "
        "`contract<d_model>(image, relabel<batch, candidates>(text))`, and every image meets every text.",
    "ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out":
        "Declare the new dimension as `prime<D>` or `out<D>` if it is the other side of D. If it really is something "
        "else of the same extent, `relabel<A, B>`, which stands out in review.",
    "ERROR_R3_extents_differ":
        "The two dimensions cannot be the same one. Take the dimension of the right extent, or `slice` first.",
    "ERROR_R3_stored_order_lists_each_dimension_once":
        "Write the file's axes from the slowest to the fastest, each with its dimension; several dimensions that are one axis of "
        "the file go `together<heads, d_k>`. What is stored otherwise than the model has it replaces its dimension: "
        "`pairs_as_halves<d_k>`.",
    "ERROR_R3_values_are_at_other_positions_than_the_weights":
        "The values must stand at the positions that the weights go over: `rename<seq, key>(v)`, or compute the "
        "values from the sequence that the keys were computed from.",
    "ERROR_R3_assigned_dimensions_differ":
        "Declare the dimensions that the expression has, or deduce them: `tensor y = expr;`.",
    "ERROR_R4_extent_does_not_divide":
        "Choose extents that divide, or declare the dimension with an extent of its own instead of `divided`.",
    "ERROR_R4_composite_has_other_factors_or_order":
        "Use the composite's own factors, in its order; `split` a composite before naming a factor of it.",
    "ERROR_R4_composite_is_not_the_declared_dimension":
        "Contract with the output weight (`contract<heads, d_v>(z, w_o)`), or declare the merged dimension.",
    "ERROR_R5_weights_are_contracted_over_their_own_dimension":
        "Contract over the dimensions that the softmax went over, all of them, and give the other operand these "
        "dimensions. Often it is the softmax that names the wrong ones: `softmax<key>`. What mixes heads, layers or features "
        "may be contracted beside them.",
    "ERROR_R5_already_normalised":
        "Drop the second softmax. To sum to one over another dimension on purpose: `renormalise<D>`.",
    "ERROR_R5_weighted_product_is_reduced_over_its_weights_only":
        "`sum<D>`, where the weights sum to one over D: they are the mean already. If something else is meant, say it with "
        "`plain`.",
    "ERROR_R5_mean_divides_weights_that_already_sum_to_one":
        "`sum<D>` of products with weights is their average; `contract<D>(p, v)` in one word. The mean of the weights alone is "
        "1/n, whatever the scores are: `max<D>` or an entropy says something, `mean<heads>` averages heads.",
    "ERROR_R5_softmax_over_a_single_element":
        "Name the dimension of the alternatives. An extent of 1 is often a dimension that should not exist.",
    "ERROR_R5_alternatives_are_chosen_by_weights_over_positions":
        "Normalise over the alternatives: `top_k<experts, chosen>(softmax<experts>(logits), chosen{2})`, or choose by the logits.",
    "ERROR_R5_declared_type_drops_or_invents_normalised":
        "Add `normalised<D>` (or `weighted<D>`, `log_normalised<D>`) to the declared type, deduce it with `tensor p = expr;`, or drop it "
        "with `plain(expr)`.",
    "ERROR_R6_raw_products_are_scaled_first":
        "`scores<d_k>(q, k)` instead of `contract<d_k>(q, k)`; or `scaled<d_k>`, `scaled(s, x)`, `unscaled(s)`.",
    "ERROR_R6_raw_product_was_multiplied_instead_of_scaled":
        "`scaled(contract<d_k>(q, k), 0.125F)` with the factor, or `scores<d_k>(q, k)` for 1/√d_k. Where the product has its scale "
        "already, in the operands or by hand: `unscaled(p)`.",
    "ERROR_R6_scores_are_already_scaled":
        "Drop the second scale. A temperature on top is an ordinary product: `s * t`.",
    "ERROR_R6_scaled_takes_raw_products":
        "Scale the product of queries and keys itself, directly after `contract`.",
    "ERROR_R6_scaled_names_the_contracted_features":
        "Name the features that were contracted. For another scale on purpose: `scaled(s, x)`.",
    "ERROR_R6_stored_product_has_lost_the_extent_of_its_features":
        "Scale before storing, or give the number: `scaled(s, 1 / std::sqrt(n))`.",
    "ERROR_R6_scores_are_products_of_positions":
        "A projection is `contract`. For scores, both operands keep positions and nothing else but parallel "
        "dimensions; a position taken by `at` counts as kept.",
    "ERROR_R6_scores_are_contracted_only_after_softmax":
        "`softmax` first. For attention without softmax (linear attention) say `plain(s)`.",
    "ERROR_R6_declared_type_drops_or_invents_raw_or_score":
        "Add the mark to the declared type, deduce it with `tensor s = expr;`, or drop it with `plain(expr)`.",
    "ERROR_R7_mask_needs_a_polarity_allow_or_block":
        "`allow(m)` where true means visible, `allow_of(block(m))` where true means hidden; comparisons that hold together are "
        "`allow(a < b) & allow(b < c)`. As 1 and 0: `indicator(allow(m))`.",
    "ERROR_R7_block_mask_needs_allow_of":
        "`masked(s, allow_of(block(m)))`, and the same behind the values of a module.",
    "ERROR_R7_scores_change_by_a_mask_a_bias_or_a_function":
        "`padding<key>(lengths)`, `causal<seq, key>{}`; a function takes the scores, not one of them: "
        "`[](const auto& s) { return map(f, s); }`.",
    "ERROR_R7_given_mask_is_a_tensor_of_bool":
        "Compute a tensor of bool, for instance with `map`. A number that is added is a bias: `biased(s, b)`.",
    "ERROR_R7_mask_has_dimensions_that_the_scores_lack":
        "Name the mask's dimensions as those of the scores. What only the mask has must be parallel, such as batch. After "
        "`at<seq>` there is no query position: `slice<seq>` keeps it.",
    "ERROR_R7_masks_serve_no_common_dimension":
        "Every mask of one softmax has the dimension that this softmax goes over: a padding of keys names `key`. Of queries that see "
        "nothing, or everything, say that whole rows are meant: `padding<source>(s) & whole_rows(padding<target>(t))`.",
    "ERROR_R7_mask_does_not_serve_this_dimension":
        "Softmax over the mask's key side, or make the mask for the dimension that is reduced: `padding<key>(lengths)` for "
        "a softmax over `key`; `whole_rows(m)` of a mask of queries.",
    "ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over":
        "Give the bias the dimension of the softmax: a padding of keys is [batch, key], not [batch, seq]. What is the same for all "
        "keys changes no weight. The maximum need not be subtracted: softmax does so. Before `sigmoid` or another function, add "
        "with `+`.",
    "ERROR_R7_bias_is_masked_instead_of_the_scores":
        "Mask the sum: `masked(biased(s, b), m)` or `masked(s + b, m)`. `nn::attention<d_k, key>(q, k, v, m)` forms the scores itself "
        "and takes the mask alone; attention of scores that exist is `contract<key>(softmax<key>(masked(s, m)), v)`.",
    "ERROR_R7_masking_comes_before_softmax":
        "`softmax<key>(masked(s, m))`. To select from weights: `a * indicator(m, …)`, then `renormalise<key>`.",
    "ERROR_R7_masked_values_go_to_softmax_or_a_reduction":
        "Softmax or reduce first. To continue with the values, do not mask them.",
    "ERROR_R7_masked_values_are_given_to_a_function":
        "Apply the function first, then `masked`.",
    "ERROR_R7_query_and_key_positions_are_related_or_have_origins":
        "Declare the key side as `prime<seq>`, or say where both begin: "
        "`causal<A, B>{starting_at(A{n}, i), starting_at(B{m}, j)}`.",
    "ERROR_R7_lengths_are_no_whole_numbers_over_parallel_dimensions":
        "Give a tensor of whole numbers over batch (or other parallel dimensions), or one whole number.",
    "ERROR_R7_declared_type_drops_or_invents_biased":
        "Store the sum under a name of its own, `tensor t = biased(s, b);` or `tensor t = s + b;`, or declare `biased_for<…>` as the "
        "error spells it. A later `t += b` keeps the type. What is no score takes `x += b` as it is.",
    "ERROR_R7_declared_type_drops_or_invents_masked":
        "Take the softmax before storing, or deduce the type with `tensor s = expr;`.",
    "ERROR_R8_neither_has_all_dimensions_of_the_other":
        "Often one of them has a wrong name, or lacks a projection: a residual takes `contract<heads, d_v>(z, w_o)`. Where "
        "both have dimensions of their own on purpose: `broadcast_like`.",
    "ERROR_R8_assignment_never_broadcasts":
        "Write `broadcast<D>(x, extent)`, or declare the type without the dimension. Where a product was to have it, both operands "
        "shared another one: `relabel` or `rename` one side.",
    "ERROR_R9_already_rotated":
        "Rotate once: after the projection, before scores or cache.",
    "ERROR_R9_only_one_operand_is_rotated":
        "Rotate both queries and keys, or neither. A cache keeps its mark.",
    "ERROR_R9_operands_are_rotated_by_other_positions":
        "Declare the mark as the rotation gives it. `rotated<d_k>` names no positions, `rotated<d_k, seq>` those that turned it: "
        "`tensor k = rotary<key, d_k>(…);` deduces it, and a cache declares the same mark.",
    "ERROR_R9_values_are_not_rotated":
        "Rotate queries and keys only.",
    "ERROR_R9_rotary_takes_positions_and_the_features_of_a_head":
        "Split heads first, then name the position and the features of one head.",
    "ERROR_R9_angles_do_not_belong_to_the_rotated_positions":
        "Give positions along the rotated dimension (and batch), or cosines and sines along it and one feature that "
        "counts the pairs: half as many as features are turned.",
    "ERROR_R9_declared_type_drops_or_invents_rotated":
        "Add `rotated<D>` to the declared type or deduce it with `tensor k = expr;`.",
    "ERROR_R10_operands_differ_in_another_dimension":
        "Bring the operands to the same dimensions and marks; only the named dimension may differ in extent.",
    "ERROR_R10_concat_of_a_static_extent_names_its_result":
        "`concat<summed<A, B>>(a, b)`, with a dimension for each part.",
    "ERROR_R10_keys_and_values_grow_together":
        "`cache.append(k, v)`: both at once, of the same positions. A prefix stands before the keys and before the values: "
        "`concat<summed<prefix, key>>(prefix_v, v)`.",
    "ERROR_R10_whole_numbers_are_stored_by_scales":
        "Say the scales first: `cache(k_scale, v_scale, batch{2})`. Of `int8_by<>` a scale is one number, of `int8_by<heads>` a "
        "`tensor<float, heads>`.",
    "ERROR_R10_cache_grows_along_a_run_time_extent":
        "Name a position dimension without a static extent; the capacity is said by `capacity<N>`.",
    "ERROR_R10_cache_grows_by_whole_bytes":
        "Name the features last: `keys<int4_by<>, batch, kv_heads, key, d_k>`.",
    "ERROR_R10_stack_has_another_extent":
        "Give as many operands as the extent of the new dimension says.",
    "ERROR_R11_every_head_against_every_head":
        "Both operands use one heads dimension, or keys and values lack the `group` of the queries. Mix heads after scoring.",
    "ERROR_R12_weight_is_applied_the_wrong_way_round":
        "Contract over the weight's input side: `contract<D>(x, w)`, with `w` of dimensions `D, out<D>`.",
    "ERROR_R13_softmax_takes_attendable_or_choice":
        "Name positions or alternatives. If the dimension is of another kind than it should be, change its kind; for "
        "a contrastive loss `relabel` a batch to candidates.",
    "ERROR_R13_norm_takes_features":
        "Name the features. Statistics over other dimensions are `standardize<D…>`.",
    "ERROR_R13_needs_ordered_positions":
        "Name a dimension whose elements have positions: `position_dim`, `packed_dim`, or one with the ability ordered.",
    "ERROR_R13_needs_real_numbers":
        "`map([](int n) { return static_cast<float>(n); }, x)` before. Arithmetic with real numbers takes whole ones as they "
        "are: `lengths / 2.0F`.",
    "ERROR_R13_stored_numbers_are_widened_first":
        "`widened(x)` of 16 bits, `dequantised(x, scale)` of 8 and 4 bits: fused attention still reads them as they are stored.",
    "ERROR_R13_window_does_not_fit":
        "Choose an extent of the window that fits, and one of the result that follows from it.",
    "ERROR_R13_sinusoid_takes_positions_and_features":
        "`sinusoid<positions, features>(positions{n})`, in this order.",
    "ERROR_R14_part_is_taken_from_a_summed_dimension":
        "Declare the fused dimension as `summed<P, Q, …>` and take one of its parts.",
    "ERROR_R15_run_time_extents_are_given_once":
        "Give one object for each dimension whose extent is known at run time: `tensor<…> x(batch{2}, seq{5})`.",
    "ERROR_R1_operation_has_another_name":
        "Dimensions are named instead of numbered: `contract<d_model>(x, w)` for `x @ w`, `softmax<key>(s)`, `mean<seq>(x)`, "
        "`argmax<vocab>(x)`, `masked(s, m)`; `split<heads, d_k>(x)` and `merge<heads, d_k>(x)` for reshape and view, "
        "`broadcast<heads>(x, heads{8})` for unsqueeze, `at<one>(x, 0)` for squeeze. Operands meet by name, so a transpose is "
        "rarely needed: `permute<d_model, seq>(x)`.",
    "ERROR_R1_module_takes_other_arguments":
        "The page of modules says in `shape` what each takes: attention to a memory takes the input and the memory, and what changes "
        "the scores comes behind both.",
    "ERROR_R1_operation_takes_other_arguments":
        "The operations page says what each word takes. A number beside a tensor is multiplied or added; a container becomes a "
        "tensor first, a tensor of bool a mask by `allow`; `biased` adds a bias made from positions to scores; extents are objects "
        "of their dimension: `broadcast<heads>(x, heads{8})`. An option of a loss says what it is: `label_smoothing{0.1}`, `temperature{2}`, "
        "`class_weights(w)`. `split_ids` takes the factors in the order of their product.",
    "ERROR_R7_mask_has_no_elements_to_print":
        "Print what the mask is for these extents: `std::cout << indicator(mask, seq{4}, key{4})`.",
    "ERROR_R1_tensor_names_dimensions":
        "Make the type a dimension: `struct step : position_dim<> {};`, or take one that is there.",
    "ERROR_R1_element_type_comes_first":
        "Say the type of the elements first: `tensor<float, seq, d_model>`. Constants are a `const tensor<float, …>`, or a "
        "`tensor_view<const float, …>`.",
    "ERROR_R3_view_and_tensor_differ_in_type":
        "Evaluate an expression into a tensor that lives as long as the view. Name the dimensions in the order of the tensor, "
        "or `permute` it; a constant tensor has views of `const` elements.",
    "ERROR_R5_log_probabilities_meet_probabilities":
        "Add logarithms to logarithms: `log_softmax<vocab>(a) + log_softmax<vocab>(b)`, or probabilities to probabilities.",
    "ERROR_R5_log_probabilities_are_taken_along_their_own_dimension":
        "Normalise over the dimension of the ids: `gather<vocab>(log_softmax<vocab>(logits), tokens)`.",
    "ERROR_R3_elements_of_a_temporary_are_gone":
        "Keep the tensor in a variable that outlives the pointer or the span: `const tensor y = evaluate(x * 2); for (float v : y.values())`.",
    "ERROR_R13_elements_do_not_fit_the_declared_type":
        "Declare the element type of the expression, or a wider one; `map` with a `static_cast` rounds visibly.",
    "ERROR_R15_tensor_is_made_from_elements_and_extents":
        "Give the elements first (a list, a container, a span), then one object for each run-time dimension: "
        "`tensor<float, seq, d_k> x(values, seq{5})`; nested lists say their extents themselves. `x.assign(values)` replaces elements. "
        "Ids come from a container of whole numbers, or a list of ids: `{id<vocab>{3}, id<vocab>{1}}`.",
    "ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents":
        "Give the memory first, of the view's own element type, then one object for each run-time dimension: "
        "`tensor_view<const float, seq, d_k> x(pointer, seq{5})`. A container is a variable that outlives the view.",
    "ERROR_R18_element_is_taken_by_one_id_of_each_dimension":
        "Give one id of each dimension, in any order: `x(id<seq>{1}, id<d_model>{0})`. `at<seq>(x, 1)` takes a part.",
    "ERROR_R17_dimension_occurs_twice":
        "Name one of the two otherwise: `prime<D>` for the other positions, `out<D>` for the output of a weight.",
    "ERROR_R18_single_element_meets_its_whole_dimension":
        "`slice` keeps the dimension. To use one element for all: `broadcast<D>` first.",
    "ERROR_R18_ids_index_their_own_dimension_only":
        "Use an id of this dimension. To compute with what ids stand for, take it from a table: "
        "`gather<vocab>(table, ids)`.",
    "ERROR_R18_ids_of_a_composite_are_split_first":
        "`auto [beams, words] = split_ids(ids, beam{n}, word{m})`, and each factor by its own ids: "
        "`gather<word>(gather<beam>(split<beam, word>(x), beams), words)`. Of a sum take the part: `at<cls>(part<cls>(x), 0)`. "
        "Ids along the composite itself reorder it as a whole.",
    "ERROR_R18_slice_of_a_composite_names_a_plain_dimension":
        "Declare a plain dimension for what the slice gives: `slice<merged<beam, word>, best>(x, first, count)`.",
    "ERROR_R18_slice_of_a_static_extent_names_its_result":
        "`slice<D, Result>(x, first)`, where Result has the extent of the slice.",
    "ERROR_R18_slice_is_longer_than_its_dimension":
        "Give the result an extent that fits.",
    "ERROR_R18_slice_has_another_kind":
        "Declare the result with the kind of the dimension it is cut from; `relabel` says otherwise.",
    "ERROR_R18_more_elements_than_the_dimension_has":
        "Ask for at most as many as the dimension has.",
    "ERROR_R19_packed_positions_need_their_documents":
        "Mask with `document<Q, K>{}` before softmax or reduction; combine it with others by `&`. What has no such mask "
        "(`prefix`, windows, the mean of one document): cut the document out and give it positions of its own, "
        "`relabel<packed_seq, seq>(slice<packed_seq>(x, first, count))`, or give the mask element by element.",
    "ERROR_R19_mean_over_all_documents_says_so":
        "`cross_entropy<vocab>(logits, words, all_documents{})`, where the mean over all documents is meant.",
    "ERROR_R21_operation_has_no_gradient":
        "Take its operand as a constant, `detached(x)`, or let a function of your own say its derivative: a member "
        "`derivative(x)`.",
    "ERROR_R21_loss_is_one_number":
        "Name every dimension that the loss is averaged over, `mean<batch, seq>(…)`, the classes of a distribution too.",
    "ERROR_R21_loss_has_no_tracked_operand":
        "Use the model that the loss is given, not the one outside: `[&](const auto& m) { … m(x) … }`. `argmax`, comparisons and "
        "`detached` end a gradient: a loss takes the logits or their softmax, not the ids of the largest.",
    "ERROR_R21_model_has_no_parameters":
        "Differentiate by a tensor of real numbers, a module that has some, or a tuple of them.",
    "ERROR_R21_member_hides_its_parameters":
        "Make the layer a member, or hold several in a `std::vector`, `std::array` or `std::tuple`; say by a `bool` whether it "
        "is used.",
    "ERROR_R21_module_does_not_take_its_element_type":
        "Let the module be a template over its element type, and tell each member that type: `template <class T = float> "
        "struct m`, `nn::linear<…, T>`. A module with other arguments says `template <class U> using rebind = m<3, U>;`. What is "
        "not trained is outside the model, or `detached` in the formula.",
    "ERROR_R21_loss_has_other_elements_than_the_model":
        "Convert the operand to the model's element type outside the loss: `const tensor targets = map([](double v) { return "
        "static_cast<float>(v); }, from_file);`. Or train a model of `double`: `converted<double>(model)`.",
    "ERROR_R21_declared_type_drops_the_gradient":
        "Deduce the type: `tensor y = expr;` keeps the gradient. `detached(expr)` takes the value as a constant, where the gradient "
        "is to end.",
    "ERROR_R21_gradients_of_gradients_are_not_recorded":
        "Differentiate by a plain model: outside the loss, or by `detached(x)`.",
    "ERROR_R22_targets_have_other_dimensions":
        "Give both the same dimensions: `at<one>(x, 0)` takes a dimension of one element away, `broadcast_like` repeats "
        "visibly.",
    "ERROR_R22_logits_are_log_probabilities":
        "Give the loss the logits: it normalises them itself, over the dimension that it names.",
    "ERROR_R22_mean_of_an_average_is_added":
        "Add the mean of each: `cross_entropy<vocab>(logits, next).mean() + 0.1F * penalty`.",
    "ERROR_R22_average_becomes_a_number_by_mean_or_value":
        "`average loss = cross_entropy<vocab>(logits, next);`, and then `loss.value()` is the number, `loss.mean()` the number as an "
        "expression.",
    "ERROR_R22_logits_are_probabilities":
        "Give the loss the logits, without `sigmoid`: it takes it itself.",
    "ERROR_R22_mean_goes_over_the_elements_of_the_loss":
        "Name all dimensions of the loss's elements, or none; those that the loss normalises are not among them.",
    "ERROR_R22_student_and_teacher_are_exchanged":
        "Pass the logits that learn first: `kl_divergence<vocab>(student, teacher)`. The reverse divergence is a formula of its own: "
        "`sum<vocab>(softmax<vocab>(x) * (log_softmax<vocab>(x) - log_softmax<vocab>(reference)))`.",
    "ERROR_R22_targets_are_log_probabilities":
        "Pass the probabilities: `cross_entropy<vocab>(logits, exp(targets))`.",
    "ERROR_R22_targets_sum_to_one_over_another_dimension":
        "Normalise the targets over the dimension that the loss names, or give their logits.",
    "ERROR_R22_weights_have_other_dimensions":
        "`class_weights` has the dimension of the alternatives, `positive_weight` and masks have dimensions of the loss's "
        "elements.",
    "ERROR_R22_gradient_belongs_to_another_model":
        "Give `step` the gradient that `value_and_gradient` gave for this model.",
    "ERROR_R22_batches_are_added_as_averages":
        "Return the `average` that the loss gives, without `mean()` or `value()`.",
}


# --- types, as compilers print them -----------------------------------------------------------------------------------

class Type:
    """A type: its name with namespaces, and its arguments; `text` for what has none, such as numbers."""

    def __init__(self, name, arguments):
        self.name, self.arguments = name, arguments

    @property
    def word(self):
        return self.name.rsplit("::", 1)[-1]

    def __str__(self):
        if re.search(r"lambda", self.name):
            return "a function"
        if self.word in ("node", "contraction") and self.arguments:
            return "an expression"
        if self.word in ("about", "extent") and self.arguments:
            return str(self.arguments[0])
        if self.word == "number_arguments":
            return "the number" + ("s " if len(self.arguments) > 1 else " ") + ", ".join(map(str, self.arguments))
        if self.word in ("shape", "operand_shape", "lhs", "rhs", "over", "list"):
            return ", ".join(map(str, self.arguments))
        return self.word + (f"<{', '.join(map(str, self.arguments))}>" if self.arguments else "")


def parse(text, at=0):
    """The type that begins there -> (Type, end); brackets of functions and lambdas are part of a name."""
    name, arguments, depth = "", [], 0
    while at < len(text):
        letter = text[at]
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(letter, 0)
        if depth < 0:
            break
        if depth == 0 and letter in ",>'\";]\u2019":
            break
        if depth == 0 and letter == "<":
            at += 1
            while at < len(text) and text[at] != ">":
                one, at = parse(text, at)
                if one.name:
                    arguments.append(one)
                if at < len(text) and text[at] == ",":
                    at += 1
                elif at < len(text) and text[at] != ">":
                    return Type(clean(name), arguments), at
            at += 1
            continue
        name += letter
        at += 1
    return Type(clean(name), arguments), at


def clean(name):
    name = re.sub(r"\{anonymous\}::|\(anonymous namespace\)::", "", name).strip()
    name = re.sub(r"^(struct|class) ", "", name)
    return re.sub(r"\s+(?=[*&])", "", re.sub(r"^(\d+)[uUlL]+$", r"\1", name))


MARKS = ("raw", "score", "masked_for", "biased_for", "normalised", "weighted", "log_normalised", "rotated", "indexed")
SHAPES = {"lhs": "left", "rhs": "right", "operand_shape": "operand", "declared": "declared", "computed": "expression"}
SHAPE_LABELS = (*SHAPES.values(), "shape", "tensor", "stored")
NUMBER = "one number"  # the shape without a dimension
PRESENT, LACKING, ABSENT = range(3)  # LACKING: a culprit that the shape has not
LABELS = {  # of what an error names beside the shapes, where that is not "named"
    "ERROR_R4_extent_does_not_divide": ("divided",), "ERROR_R15_run_time_extents_are_given_once": ("named", "given"),
    "ERROR_R18_element_is_taken_by_one_id_of_each_dimension": ("given",), "ERROR_R22_gradient_belongs_to_another_model": ("model", "gradient"),
    "ERROR_R22_batches_are_added_as_averages": ("given",), "ERROR_R7_mask_has_dimensions_that_the_scores_lack": ("mask",), "ERROR_R7_masks_serve_no_common_dimension": ("first mask", "second")}
OPERATIONS = {  # the words for those that are no words of a program
    "elementwise": "arithmetic", "assign": "the assignment", "divide": "the division", "compare": "the comparison",
    "mask_and": "`&` of masks", "mask_or": "`|` of masks"}


def names(words):
    words = [str(word) for word in words]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1] if words else "nothing"


MARK = re.compile(rf"({'|'.join(MARKS)})<")


def is_mark(one):
    return one.word in MARKS and "dimwise" in one.name


class Facts:
    """What an error type says. A fact that it does not say is a KeyError."""

    def __init__(self, error, word):
        self.id, self.rule = error.word, re.match(r"ERROR_(R\d+)", error.word)[1]
        self.operation, self.overs, self.rows, self.others, self.extents, self.ids = "", [], [], [], {}, []
        for one in error.arguments:
            if re.search(r"(^|::)op::\w+$", one.name) and not self.operation:
                self.operation = one.word
            elif one.word == "over":
                self.overs.append([self.dimension(dim) for dim in one.arguments])
            elif one.word == "about":  # a fact by itself: an `over` of one
                self.overs.append([self.dimension(one)])
            elif one.word in SHAPES:
                self.rows.append((SHAPES[one.word], one.arguments))
            elif one.word == "shape":
                self.rows.append(("shape" if not self.rows else "tensor", one.arguments))
            elif one.word == "id" and one.arguments:
                self.ids.append(one.arguments[0])
            else:
                self.others.append(one)
        if self.id.startswith("ERROR_R4_extent_does_not_divide"):
            self.overs = [sum(self.overs, [])]
        self.rows += [("stored", one.arguments) for one in self.others if one.word == "stored" and self.rows]  # the order in a file
        self.word = OPERATIONS.get(self.operation, self.operation) or word or "this"

    def dimension(self, one):
        if one.word == "about" and len(one.arguments) == 2:
            extent = one.arguments[1]
            if extent.word == "extent" and extent.arguments:
                self.extents[str(one.arguments[0])] = str(extent.arguments[0])
            return one.arguments[0]
        return one

    def row(self, *labels):
        for label, items in self.rows:
            if label in labels:
                return items
        raise KeyError(labels[0])

    def dims(self, *labels):
        return [str(one) for one in self.row(*labels) if not is_mark(one)]

    def both(self):
        found = [items for _, items in self.rows]
        if len(found) < 2:
            raise KeyError("both")
        return [[str(one) for one in items] for items in found[:2]]

    def only(self, marks=True):
        """-> what one side has alone; without marks only where dimensions differ, too"""
        left, right = self.both()
        sides = [one for one in left if one not in right], [one for one in right if one not in left]
        without = tuple([one for one in side if not MARK.match(one)] for side in sides)
        return sides if marks or not any(without) else without

    def marked(self, name):
        for _, items in self.rows:
            for one in items:
                if one.word == name and is_mark(one):
                    return [str(argument) for argument in one.arguments]
        raise KeyError(name)

    def over(self, which=0):
        found = [over for over in self.overs if over] if which == 0 else self.overs
        if len(found) <= which:
            raise KeyError("over")
        return [str(one) for one in found[which]]

    def __getitem__(self, fact):
        found = getattr(self, "say_" + fact, None)
        if found:
            return found()
        for _, items in self.rows if fact in MARKS else []:  # all such marks of the first shape that has one
            found = [str(argument) for one in items if one.word == fact and is_mark(one) for argument in one.arguments]
            if found:
                return names(list(dict.fromkeys(found)))
        raise KeyError(fact)

    def say_op(self):
        return OPERATIONS.get(self.operation, f"`{self.word}`")

    def say_operation(self):
        if not self.operation:
            raise KeyError("operation")
        return self.say_op()

    def say_op_word(self):
        return self.word

    def say_word(self):
        return f"`{self.word}`" if self.word != "this" else "this"

    def say_over(self):
        return names(self.over())

    def say_is(self):
        return "is" if len(self.over()) == 1 else "are"

    def say_over_n(self):
        return names(f"{one}[{self.extents[one]}]" if one in self.extents else one for one in self.over())

    def say_first(self):
        return self.over()[0]

    def say_second(self):
        if len(self.over()) < 2:
            raise KeyError("second")
        return self.over()[1]

    def say_over_of_first(self):
        if len(self.overs) < 2:
            raise KeyError("two")
        return names(self.over())

    def say_over_of_second(self):
        return names(self.over(1))

    def say_given(self):
        if len(self.overs) < 1 + (not any(label == "shape" for label, _ in self.rows)):
            raise KeyError("given")
        return names(self.overs[-1])

    def say_have(self):
        return ", ".join(self.need(self.dims("operand", "shape", "left", "right")))

    def say_lhave(self):
        return ", ".join(self.dims("left"))

    def say_rhave(self):
        return ", ".join(self.dims("right"))

    def say_mask_dims(self):
        return self.say_over_of_second()

    def say_shape(self):
        return ", ".join(map(str, self.row("shape")))

    def say_shape2(self):
        return ", ".join(map(str, self.row("tensor")))

    def say_missing(self):
        have = self.dims("operand", "left", "right")
        missing = [one for one in self.over() if one not in have]
        if not missing or any(label == "right" for label, _ in self.rows):
            raise KeyError("missing")
        return names(missing)

    def say_lacking(self):
        lacks = []
        for label, which in (("left", "the left operand"), ("right", "the right operand")):
            have = self.dims(label)
            missing = [one for one in self.over() if one not in have]
            if missing:
                lacks.append((which, names(missing)))
        if not lacks:
            raise KeyError("lacking")
        if len(lacks) == 2 and lacks[0][1] == lacks[1][1]:
            return f"both operands lack {lacks[0][1]}"
        return " and ".join(f"{which} lacks {what}" for which, what in lacks)

    def say_left_only(self):
        return names(self.need(self.only(marks=False)[0]))

    def say_right_only(self):
        return names(self.need(self.only(marks=False)[1]))

    say_declared_only, say_computed_only = say_left_only, say_right_only

    def parallel(self, side):
        left = [one for one in self.only()[side] if not re.search(r"<", one) and one not in self.over()]
        return names(self.need(left))

    def say_left_parallel(self):
        return self.parallel(0)

    def say_right_parallel(self):
        return self.parallel(1)

    @staticmethod
    def need(found):
        if not found:
            raise KeyError("nothing")
        return found

    def say_sides(self):
        left, right = self.only(marks=False)
        self.need(left + right)
        labels = [label for label, _ in self.rows][:2]
        if labels[0] == labels[1]:
            labels = ["first", "second"]
        parts = [f"the {label} {'one ' if label in ('left', 'right', 'first', 'second') else ''}alone has {names(only)}"
                 for label, only in zip(labels, (left, right)) if only]
        return ", ".join(parts)

    def say_changed(self):
        left, right = self.only()
        if not left and not right:
            return "the declared type and the expression differ in the order of " + names(self.both()[0])
        parts = [f"the expression has {names(right)}, which the declared type drops"] if right else []
        parts += [f"the declared type has {names(left)}, which the expression lacks"] if left else []
        if left and right:
            parts = [f"the declared type has {names(left)}, the expression {names(right)}"]
        return parts[0]

    def say_declared(self):
        return names(self.row("declared"))

    def say_computed(self):
        return names(self.row("expression"))

    def say_types(self):
        return names(self.need(self.others + [f"id<{one}>" for one in self.ids]))

    def say_shapes(self):
        return names(f"[{', '.join(map(str, items))}]" for _, items in self.rows)

    def say_ids(self):
        return names(self.need(self.ids))

    def say_composites(self):
        found = [str(one) for _, items in self.rows for one in items if one.word in ("merged", "summed")]
        return names(self.need([one for one in dict.fromkeys(found) if one not in self.over()] or list(dict.fromkeys(found))))

    def say_plain_dims(self):
        return names(self.need(self.others))

    def say_free(self):
        left, right = self.only()
        return names(self.need([one for one in left + right if one not in self.over() and "<" not in one]))

    def say_rotated_feature(self):
        return self.marked("rotated")[0]

    def say_rotated_by(self):
        return names(self.need(self.marked("rotated")[1:]))

    def rotated_in(self, label, other):
        found = {side: [str(one.arguments[0]) for one in items if one.word == "rotated" and is_mark(one)]
                 for side, items in self.rows}
        if not found.get(label) or found.get(other):
            raise KeyError("rotated")
        return found[label][0]

    def say_left_rotated(self):
        return self.rotated_in("left", "right")

    def say_right_rotated(self):
        return self.rotated_in("right", "left")

    # --- the sentence and the table

    def said(self):
        return f"{self.sentence()[0]} ({self.rule})"

    def sentence(self):
        """-> (the sentence, whether it is one of SENTENCES)"""
        for pattern in SENTENCES.get(self.id, ("",))[1:]:
            try:
                return pattern.format_map(self), True
            except KeyError:
                pass
        words = re.sub(r"^ERROR_R\d+_", "", self.id).replace("_", " ")
        over = f" over {names(self.over())}" if any(self.overs) else ""
        return f"{self['op']}{over}: {words}", False

    def marked_kinds(self):
        return SENTENCES.get(self.id, ("over",))[0].split("+")

    def culprits(self):
        found, dims = set(), {str(one) for _, items in self.rows for one in items}
        for what in self.marked_kinds():
            if what == "over":
                found |= {str(one) for over in self.overs for one in over}
            elif what == "lacking":  # named, and not in every operand
                over = {str(one) for over in self.overs for one in over}
                found |= {one for one in over if any(one not in map(str, items) for _, items in self.rows)} or over
            elif what == "differing" and len(self.rows) > 1:
                left, right = self.only(marks=False)
                found |= set(left) | set(right)
            elif what == "composites":
                found |= {one for one in dims if re.match(r"(merged|summed)<", one)}
            elif what == "missing":
                found |= {str(one) for over in self.overs for one in over} - dims
            elif what == "given":
                found |= {str(one) for over in self.overs[1:] for one in over}
            elif what == "twice":
                found |= {str(one) for _, items in self.rows for one in items if [*map(str, items)].count(str(one)) > 1}
            elif what == "types":
                found |= {str(one) for one in self.others}
            elif what == "right":
                found |= {str(one) for label, items in self.rows if label == "right" for one in items}
            elif what == "free" and len(self.rows) > 1:
                found |= {one for side in self.only() for one in side if "<" not in one}
            elif what == "all":
                found |= dims
            elif what in MARKS:
                found |= {one for one in dims if one.startswith(what + "<")}
        return found

    def labelled(self):
        """-> [(label, [(dimension, its number among equal ones; -1 where its place in the order is wrong)])]"""
        rows = [*zip([*LABELS.get(self.id, ()), *["named"] * len(self.overs)], self.overs), *self.rows]
        rows += [("given", self.others)] if "types" in self.marked_kinds() else []
        rows = [(label, [str(one) for one in items] or [NUMBER] * (label in SHAPE_LABELS)) for label, items in rows]
        rows = [(label, [(one, items[:n].count(one)) for n, one in enumerate(items)]) for label, items in rows if items]
        shapes = [items for label, items in rows if label in SHAPE_LABELS]
        if len(shapes) == 2 and self.rows[1][0] in ("expression", "tensor", "stored") and sorted(shapes[0]) == sorted(shapes[1]):
            for what, _, _, first, end in difflib.SequenceMatcher(None, *shapes, autojunk=False).get_opcodes():
                if what != "equal":
                    shapes[1][first:end] = [(one, -1) for one, _ in shapes[1][first:end]]
        return rows

    def grid(self):
        """-> (columns: [(dimension as it is shown, whether it is a culprit)], rows: [(label, [PRESENT, LACKING or ABSENT])]). Equal
        dimensions are in one column. Where the order matters, a dimension that is at another place has one more."""
        rows, columns = self.labelled(), []
        for _, items in sorted(rows, key=lambda row: row[0] not in SHAPE_LABELS):
            place = 0
            for one in items:
                if one not in columns:
                    columns.insert(place if place or one[1] < 0 else len(columns), one)
                place = columns.index(one) + 1
        no_dims = {one for label, items in rows for one in items if label == "given" or one[0] == NUMBER}
        columns.sort(key=lambda one: (one in no_dims, MARK.match(one[0]) is not None))
        names_of = {one for one, _ in columns}  # where nothing is a culprit by itself, all are
        culprits = self.culprits() & names_of or {one for one, number in columns if number < 0} or names_of
        lacking = [one[0] in culprits and one not in no_dims for one in columns]
        cells = [(label, [PRESENT if one in items else LACKING if may_lack and label in SHAPE_LABELS and items[0][0] != NUMBER else ABSENT
                          for one, may_lack in zip(columns, lacking)]) for label, items in rows]
        return [(f"{one}[{self.extents[one]}]" if one in self.extents else one, one in culprits) for one, _ in columns], cells

    def table(self, colours):
        """-> the shapes, one below the other, each dimension in a column of its own, the culprits marked"""
        columns, rows = self.grid()
        lines = []
        for label, cells in rows:
            line = f"  {label:<10}"
            for (one, culprit), cell in zip(columns, cells):
                cell = f"{one if cell == PRESENT else '-' if cell == LACKING else '':<{len(one)}}"
                line += "  " + (colours.culprit(cell) if culprit else cell)
            lines.append(line.rstrip())
        if any(culprit for _, culprit in columns):
            marks = "".join("  " + ("^" if culprit else " ") * len(one) for one, culprit in columns)
            lines.append((" " * 12 + marks).rstrip())
        return lines


class Colours:
    def __init__(self, on):
        self.on = on

    def paint(self, code, text):
        return f"\033[{code}m{text}\033[0m" if self.on else text

    def culprit(self, text):
        return self.paint("1;31", text) if text.strip() else text

    def error(self, text):
        return self.paint("1;31", text)

    def bold(self, text):
        return self.paint("1", text)

    def cure(self, text):
        return self.paint("32", text)


def wanted(stream):
    """-> whether colours are wanted there"""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


# --- diagnostics ------------------------------------------------------------------------------------------------------

ESCAPE = re.compile(r"\033\[[0-9;]*[mK]")
CONTEXT = re.compile(r"(In file included from|\s{4,}from) .+:\d+|.+: In .+:$|.+: At global scope:$"
                     r"|.+:\d+(:\d+)?:\s+(recursively )?required (from|by)|.+:\d+(:\d+)?:\s+\[ skipping")
HEAD = re.compile(r"(?P<file>.+?):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<kind>fatal error|error|warning): ")
NOTE = re.compile(r".+?: note: ")
NUMBERED = re.compile(r"\s*\d+ \|| +\|(\s|$)")
MARKER = re.compile(r"\s*[~^][\s~^]*$")
ERROR = re.compile(r"\bERROR_R\d+_\w+")
PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+):(?:(?P<column>\d+):)? +(?:required from here|(?:recursively )?required (?:from|by) "
                   r"|note: in instantiation of )")
OF_LIBRARY = re.compile(r"(^|/)include/(dimwise|c\+\+)/")


def read(lines):
    """The lines of one diagnostic -> (its place, the program's line, its facts), or None where it is no error of dimwise."""
    plain = [ESCAPE.sub("", line) for line in lines]
    heads = [n for n, line in enumerate(plain) if HEAD.match(line)]
    found = None
    for match in (match for line in plain for match in ERROR.finditer(line)):
        error, _ = parse(match.string[match.start():])
        if found is None or len(error.arguments) > len(found.arguments):
            found = error
    if found is None or not heads or HEAD.match(plain[heads[0]])["kind"] == "warning":
        return None
    # The place of the program's own line: where a type of the library was asked for, if the error is inside the library.
    at = heads[0]
    place = HEAD.match(plain[at])
    if OF_LIBRARY.search(place["file"]):
        asked = [(n, PLACE.match(line)) for n, line in enumerate(plain) if PLACE.match(line)]
        asked = [(n, match) for n, match in asked if not OF_LIBRARY.search(match["file"])]
        if asked:
            at, place = asked[0]
    source = []
    for line in plain[at + 1:at + 4]:
        if not NUMBERED.match(line):
            break
        source.append(line)
    if not source and at + 2 < len(plain) and MARKER.match(plain[at + 2]):
        source = plain[at + 1:at + 3]
    source = source or line_of(place["file"], int(place["line"]))
    return place, source, Facts(found, called(source))


def explained(lines, colours):
    """The lines of one diagnostic -> the same as sentences, or None where it is no error of dimwise."""
    known = read(lines)
    if known is None:
        return None
    place, source, facts = known
    column = f":{place['column']}" if place["column"] else ""
    told = [f"{colours.bold(place['file'] + ':' + place['line'] + column + ':')} {colours.error('error:')} "
            f"{colours.bold(facts.sentence()[0])} ({facts.rule})"]
    told += source
    told += facts.table(colours)
    cure = CURES.get(facts.id, "")
    if cure:
        told += [colours.cure(line) for line in
                 textwrap.wrap(cure, 120, initial_indent="  cure: ", subsequent_indent="        ", break_on_hyphens=False)]
    told.append(f"  {facts.id}")
    return told


def line_of(file, number):
    """-> the program's line, which g++ leaves out where the error is inside the library; nothing where it cannot be read"""
    try:
        with open(file, encoding="utf-8", errors="replace") as lines:
            text = lines.read().splitlines()[number - 1]
    except (OSError, IndexError):
        return []
    return [f"{number:5} | {text}"]


def called(source):
    """-> the word that the marked part of a line begins with: what was called"""
    if len(source) < 2:
        return ""
    marks = re.search(r"[~^]", source[1])
    if not marks:
        return ""
    text = source[0][marks.start():]
    word = re.match(r"(?:[A-Za-z_]\w*(?:\.|->|::))*([A-Za-z_]\w*)", text)
    return word[1] if word else ""


class Reader:
    """Lines in, lines out: as bytes, so that what is not of dimwise passes as it is."""

    def __init__(self, write, colours):
        self.write, self.colours = write, colours
        self.block = []     # a diagnostic: what led to it, its head, the program's line, its notes
        self.leading = []   # lines that lead to a diagnostic, or to a note of the last one
        self.held = None    # the line behind a head: clang 14 shows the program's line without its number
        self.after_head = False

    def flush(self):
        told, text = None, [line.decode("utf-8", "surrogateescape").rstrip("\r\n") for line in self.block]
        if any("ERROR_R" in line for line in text):
            told = explained(text, self.colours)
        self.write(b"".join(self.block) if told is None
                   else "".join(line + "\n" for line in told).encode("utf-8", "surrogateescape"))
        self.block, self.after_head = [], False

    def line(self, raw):
        text = ESCAPE.sub("", raw.decode("utf-8", "surrogateescape")).rstrip("\r\n")
        if self.held is not None:
            held, self.held = self.held, None
            if MARKER.match(text):
                self.block += [held, raw]
                return
            self.flush()
            self.write(held)
        if HEAD.match(text):
            self.flush()
            self.block, self.leading, self.after_head = [*self.leading, raw], [], True
        elif CONTEXT.match(text):
            self.leading.append(raw)
        elif self.block and NOTE.match(text):
            self.block += [*self.leading, raw]
            self.leading, self.after_head = [], True
        elif self.block and not self.leading and NUMBERED.match(text):
            self.block.append(raw)
            self.after_head = False
        elif self.block and not self.leading and self.after_head:
            self.held, self.after_head = raw, False
        else:
            self.end()
            self.write(raw)

    def end(self):
        self.flush()
        for line in [*([self.held] if self.held is not None else []), *self.leading]:
            self.write(line)
        self.held, self.leading = None, []


def translate(text, colour=False):
    """What a compiler printed -> the same with the errors of dimwise as sentences."""
    out = []
    reader = Reader(out.append, Colours(colour))
    for line in text.encode("utf-8", "surrogateescape").splitlines(keepends=True):
        reader.line(line)
    reader.end()
    return b"".join(out).decode("utf-8", "surrogateescape")


def pass_through(stream, target):
    def write(data):
        target.buffer.write(data)
        target.buffer.flush()

    reader = Reader(write, Colours(wanted(target)))
    for line in stream:
        reader.line(line)
    reader.end()


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    arguments = sys.argv[1:]
    if arguments and arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0
    if arguments and arguments[0].startswith("-"):
        sys.exit(f"dimwise-errors: unknown option {arguments[0]}; --help says what there is")
    if not arguments:
        pass_through(sys.stdin.buffer, sys.stdout)
        return 0
    try:
        command = subprocess.Popen(arguments, stderr=subprocess.PIPE)
    except OSError as problem:
        print(f"dimwise-errors: {arguments[0]}: {problem.strerror}", file=sys.stderr)
        return 127
    try:
        pass_through(command.stderr, sys.stderr)
    except KeyboardInterrupt:
        pass
    code = command.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
