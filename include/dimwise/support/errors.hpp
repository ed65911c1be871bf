// SPDX-License-Identifier: BSL-1.0
// dimwise/support/errors.hpp -- every compile error of the library, as a class that is declared but not defined.
//
// Layer: support. A rejected call returns one of these classes, and the compiler prints its name and its arguments: the
// operation, the dimensions with their extents, and the shapes. support/diagnostics.hpp has the message, the causes and
// the fix of each. Clang from 17 in C++26 prints the message itself: support/error_messages.hpp defines the classes,
// and completing one is an error, even in a concept. DIMWISE_ERRORS_ARE_TYPES leaves them undefined. Rejected
// constructors print messages with DIMWISE_MESSAGES_IN_CONSTRUCTORS only: the standard library asks of every type what
// it can be constructed from.
//
// All errors are in one file: compilers print its name and line, as the #line below sets them.
#pragma once

// Follows a rejected overload that takes a user's function. g++ adds an error when an undefined function is called with
// a lambda, so it is deleted there; clang reports a deleted function too late.
#if defined(__GNUC__) && !defined(__clang__)
#define DIMWISE_DETAIL_REFUSES_LAMBDAS = delete
#else
#define DIMWISE_DETAIL_REFUSES_LAMBDAS
#endif

#if defined(__clang__) && defined(__cpp_static_assert) && !defined(DIMWISE_ERRORS_ARE_TYPES)
#if __cpp_static_assert >= 202306L
#define DIMWISE_DETAIL_MESSAGES
#endif
#endif

// DIMWISE_SENTENCES_IN_CONSTRUCTORS is its former name.
#if defined(DIMWISE_DETAIL_MESSAGES) && \
    (defined(DIMWISE_MESSAGES_IN_CONSTRUCTORS) || defined(DIMWISE_SENTENCES_IN_CONSTRUCTORS))
#define DIMWISE_DETAIL_CONSTRUCTORS_SAY
#endif

// Follows a rejected constructor, which cannot return its error.
#if defined(DIMWISE_DETAIL_CONSTRUCTORS_SAY)
#define DIMWISE_DETAIL_REFUSED(Error) noexcept(sizeof(Error) > 0)
#else
#define DIMWISE_DETAIL_REFUSED(Error) = delete
#endif

// The result type of a rejected function, and what follows its parameters. With messages, the class of the error is
// complete, and clang would also report what the user does with the result.
#if defined(DIMWISE_DETAIL_MESSAGES)
#define DIMWISE_DETAIL_RESULT(...) ::dimwise::detail::already_refused
#define DIMWISE_DETAIL_SAYS(...) noexcept(sizeof(__VA_ARGS__) > 0)
#else
#define DIMWISE_DETAIL_RESULT(...) __VA_ARGS__
#define DIMWISE_DETAIL_SAYS(...)
#endif

// The same of a member function. clang goes on with its result, and adds errors if its type is undefined, but not if
// the type is to be deduced.
#if defined(__clang__) && !defined(DIMWISE_DETAIL_MESSAGES)
#define DIMWISE_DETAIL_MEMBER_RESULT(...) auto
#define DIMWISE_DETAIL_MEMBER_SAYS(...) = delete
#else
#define DIMWISE_DETAIL_MEMBER_RESULT(...) DIMWISE_DETAIL_RESULT(__VA_ARGS__)
#define DIMWISE_DETAIL_MEMBER_SAYS(...) DIMWISE_DETAIL_SAYS(__VA_ARGS__)
#endif

// Compilers name an error's declaration by the name of its include, and do not repeat its source line: two lines fewer.
#line 63 "dimwise/support/errors.hpp"
namespace dimwise {

// A line for each rule, then its errors. Their meanings are the titles in support/diagnostics.hpp, in the same order.
// clang-format off

// R1  A contraction names its dimension, and both operands have it; what an operation names occurs in its operand.
template <class... Facts> struct ERROR_R1_contracted_dimension_is_not_in_both;
template <class... Facts> struct ERROR_R1_operation_names_its_dimension;
template <class... Facts> struct ERROR_R1_dimension_is_not_in_the_operand;
template <class... Facts> struct ERROR_R1_tensor_names_dimensions;
template <class... Facts> struct ERROR_R1_element_type_comes_first;
template <class... Facts> struct ERROR_R1_expr_names_a_shape;
template <class... Facts> struct ERROR_R1_linear_names_its_sides;
template <class... Facts> struct ERROR_R1_argument_is_missing;
template <class... Facts> struct ERROR_R1_operation_takes_other_arguments;
template <class... Facts> struct ERROR_R1_operation_has_another_name;
template <class... Facts> struct ERROR_R1_module_takes_other_arguments;

// R2  A dimension that both operands have and that is not contracted is parallel, or named by `along`.
template <class... Facts> struct ERROR_R2_shared_dimension_is_not_parallel;
template <class... Facts> struct ERROR_R2_shared_dimension_pairs_elements_one_to_one;

// R3  Identity is not extent.
template <class... Facts> struct ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out;
template <class... Facts> struct ERROR_R3_extents_differ;
template <class... Facts> struct ERROR_R3_values_are_at_other_positions_than_the_weights;
template <class... Facts> struct ERROR_R3_assigned_dimensions_differ;
template <class... Facts> struct ERROR_R3_view_and_tensor_differ_in_type;
template <class... Facts> struct ERROR_R3_elements_of_a_temporary_are_gone;
template <class... Facts> struct ERROR_R3_stored_order_lists_each_dimension_once;

// R4  Split and merge go through composites whose order and factors are part of the type.
template <class... Facts> struct ERROR_R4_extent_does_not_divide;
template <class... Facts> struct ERROR_R4_composite_has_other_factors_or_order;
template <class... Facts> struct ERROR_R4_composite_is_not_the_declared_dimension;

// R5  Weights that sum to one over D are contracted over D.
template <class... Facts> struct ERROR_R5_weights_are_contracted_over_their_own_dimension;
template <class... Facts> struct ERROR_R5_already_normalised;
template <class... Facts> struct ERROR_R5_log_probabilities_meet_probabilities;
template <class... Facts> struct ERROR_R5_log_probabilities_are_taken_along_their_own_dimension;
template <class... Facts> struct ERROR_R5_weighted_product_is_reduced_over_its_weights_only;
template <class... Facts> struct ERROR_R5_mean_divides_weights_that_already_sum_to_one;
template <class... Facts> struct ERROR_R5_softmax_over_a_single_element;
template <class... Facts> struct ERROR_R5_alternatives_are_chosen_by_weights_over_positions;
template <class... Facts> struct ERROR_R5_declared_type_drops_or_invents_normalised;

// R6  A product of positions over features is raw until it is scaled.
template <class... Facts> struct ERROR_R6_raw_products_are_scaled_first;
template <class... Facts> struct ERROR_R6_raw_product_was_multiplied_instead_of_scaled;
template <class... Facts> struct ERROR_R6_scores_are_already_scaled;
template <class... Facts> struct ERROR_R6_scores_go_to_softmax;
template <class... Facts> struct ERROR_R6_scaled_takes_raw_products;
template <class... Facts> struct ERROR_R6_scaled_names_the_contracted_features;
template <class... Facts> struct ERROR_R6_stored_product_has_lost_the_extent_of_its_features;
template <class... Facts> struct ERROR_R6_scores_are_products_of_positions;
template <class... Facts> struct ERROR_R6_scores_are_contracted_only_after_softmax;
template <class... Facts> struct ERROR_R6_declared_type_drops_or_invents_raw_or_score;

// R7  Masks contain the dimension that follows, have a polarity, and come before softmax.
template <class... Facts> struct ERROR_R7_mask_needs_a_polarity_allow_or_block;
template <class... Facts> struct ERROR_R7_block_mask_needs_allow_of;
template <class... Facts> struct ERROR_R7_given_mask_is_a_tensor_of_bool;
template <class... Facts> struct ERROR_R7_tensor_is_no_condition;
template <class... Facts> struct ERROR_R7_mask_is_no_condition;
template <class... Facts> struct ERROR_R7_alibi_has_a_slope_for_each_head;
template <class... Facts> struct ERROR_R7_mask_has_dimensions_that_the_scores_lack;
template <class... Facts> struct ERROR_R7_masks_serve_no_common_dimension;
template <class... Facts> struct ERROR_R7_mask_does_not_serve_this_dimension;
template <class... Facts> struct ERROR_R7_masking_comes_before_softmax;
template <class... Facts> struct ERROR_R7_masked_values_go_to_softmax_or_a_reduction;
template <class... Facts> struct ERROR_R7_masked_values_are_given_to_a_function;
template <class... Facts> struct ERROR_R7_scores_change_by_a_mask_a_bias_or_a_function;
template <class... Facts> struct ERROR_R7_mask_has_no_elements_to_print;
template <class... Facts> struct ERROR_R7_query_and_key_positions_are_related_or_have_origins;
template <class... Facts> struct ERROR_R7_lengths_are_no_whole_numbers_over_parallel_dimensions;
template <class... Facts> struct ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over;
template <class... Facts> struct ERROR_R7_bias_is_masked_instead_of_the_scores;
template <class... Facts> struct ERROR_R7_declared_type_drops_or_invents_biased;
template <class... Facts> struct ERROR_R7_declared_type_drops_or_invents_masked;

// R8  Broadcasting only adds dimensions that one operand lacks.
template <class... Facts> struct ERROR_R8_neither_has_all_dimensions_of_the_other;
template <class... Facts> struct ERROR_R8_assignment_never_broadcasts;
template <class... Facts> struct ERROR_R8_tensor_with_dimensions_is_no_number;

// R9  Rotary names position and feature; queries and keys agree; values are not rotated.
template <class... Facts> struct ERROR_R9_already_rotated;
template <class... Facts> struct ERROR_R9_only_one_operand_is_rotated;
template <class... Facts> struct ERROR_R9_operands_are_rotated_by_other_positions;
template <class... Facts> struct ERROR_R9_values_are_not_rotated;
template <class... Facts> struct ERROR_R9_rotary_takes_positions_and_the_features_of_a_head;
template <class... Facts> struct ERROR_R9_angles_do_not_belong_to_the_rotated_positions;
template <class... Facts> struct ERROR_R9_declared_type_drops_or_invents_rotated;

// R10  Concatenation names its dimension; all others are identical.
template <class... Facts> struct ERROR_R10_operands_differ_in_another_dimension;
template <class... Facts> struct ERROR_R10_concat_of_a_static_extent_names_its_result;
template <class... Facts> struct ERROR_R10_stack_has_another_extent;
template <class... Facts> struct ERROR_R10_keys_and_values_grow_together;
template <class... Facts> struct ERROR_R10_whole_numbers_are_stored_by_scales;
template <class... Facts> struct ERROR_R10_cache_grows_along_a_run_time_extent;
template <class... Facts> struct ERROR_R10_cache_grows_by_whole_bytes;
template <class... Facts> struct ERROR_R10_sliding_cache_has_no_positions_to_go_back_to;
template <class... Facts> struct ERROR_R10_cache_of_another_kind_has_this_member;

// R11  Grouped heads: nothing is repeated, every query head has its key head.
template <class... Facts> struct ERROR_R11_every_head_against_every_head;

// R12  Weights have distinct input and output dimensions.
template <class... Facts> struct ERROR_R12_weight_sums_over_heads_that_are_gone;
template <class... Facts> struct ERROR_R12_weight_is_applied_the_wrong_way_round;

// R13  Operations and modules take arguments of the kind that they are for.
template <class... Facts> struct ERROR_R13_softmax_takes_attendable_or_choice;
template <class... Facts> struct ERROR_R13_norm_takes_features;
template <class... Facts> struct ERROR_R13_needs_ordered_positions;
template <class... Facts> struct ERROR_R13_needs_real_numbers;
template <class... Facts> struct ERROR_R13_stored_numbers_are_widened_first;
template <class... Facts> struct ERROR_R13_window_does_not_fit;
template <class... Facts> struct ERROR_R13_sinusoid_takes_positions_and_features;
template <class... Facts> struct ERROR_R13_module_takes_arguments_of_other_kinds;
template <class... Facts> struct ERROR_R13_elements_do_not_fit_the_declared_type;

// R14  Fused projections are summed dimensions.
template <class... Facts> struct ERROR_R14_part_is_taken_from_a_summed_dimension;

// R15  Run-time extents are given once and checked where tensors meet.
template <class... Facts> struct ERROR_R15_run_time_extents_are_given_once;
template <class... Facts> struct ERROR_R15_tensor_is_made_from_elements_and_extents;
template <class... Facts> struct ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents;

// R16  Query, key and value are told apart by their dimensions.
template <class... Facts> struct ERROR_R16_query_key_and_value_are_told_apart_by_dimensions;

// R17  A dimension occurs once per tensor.
template <class... Facts> struct ERROR_R17_dimension_occurs_twice;

// R18  Indexing removes, slicing keeps.
template <class... Facts> struct ERROR_R18_single_element_meets_its_whole_dimension;
template <class... Facts> struct ERROR_R18_more_elements_than_the_dimension_has;
template <class... Facts> struct ERROR_R18_ids_index_their_own_dimension_only;
template <class... Facts> struct ERROR_R18_ids_of_a_composite_are_split_first;
template <class... Facts> struct ERROR_R18_slice_of_a_composite_names_a_plain_dimension;
template <class... Facts> struct ERROR_R18_slice_of_a_static_extent_names_its_result;
template <class... Facts> struct ERROR_R18_slice_is_longer_than_its_dimension;
template <class... Facts> struct ERROR_R18_slice_has_another_kind;
template <class... Facts> struct ERROR_R18_element_is_taken_by_one_id_of_each_dimension;

// R19  What mixes packed positions needs their documents.
template <class... Facts> struct ERROR_R19_packed_positions_need_their_documents;
template <class... Facts> struct ERROR_R19_mean_over_all_documents_says_so;

// R21  A loss is one number, and what has no derivative is rejected by its name.
template <class... Facts> struct ERROR_R21_operation_has_no_gradient;
template <class... Facts> struct ERROR_R21_loss_is_one_number;
template <class... Facts> struct ERROR_R21_model_has_no_parameters;
template <class... Facts> struct ERROR_R21_member_hides_its_parameters;
template <class... Facts> struct ERROR_R21_module_does_not_take_its_element_type;
template <class... Facts> struct ERROR_R21_model_is_a_module_with_named_members;
template <class... Facts> struct ERROR_R21_walk_calls_its_function_with_a_name_and_parameters;
template <class... Facts> struct ERROR_R21_loss_takes_the_model_with_tracked_elements;
template <class... Facts> struct ERROR_R21_loss_has_no_tracked_operand;
template <class... Facts> struct ERROR_R21_loss_has_other_elements_than_the_model;
template <class... Facts> struct ERROR_R21_declared_type_drops_the_gradient;
template <class... Facts> struct ERROR_R21_gradients_of_gradients_are_not_recorded;

// R22  A loss compares what has the same dimensions, takes logits, and its mean goes over named dimensions.
template <class... Facts> struct ERROR_R22_targets_have_other_dimensions;
template <class... Facts> struct ERROR_R22_logits_are_log_probabilities;
template <class... Facts> struct ERROR_R22_targets_are_log_probabilities;
template <class... Facts> struct ERROR_R22_student_and_teacher_are_exchanged;
template <class... Facts> struct ERROR_R22_mean_of_an_average_is_added;
template <class... Facts> struct ERROR_R22_average_becomes_a_number_by_mean_or_value;
template <class... Facts> struct ERROR_R22_logits_are_probabilities;
template <class... Facts> struct ERROR_R22_mean_goes_over_the_elements_of_the_loss;
template <class... Facts> struct ERROR_R22_targets_sum_to_one_over_another_dimension;
template <class... Facts> struct ERROR_R22_weights_have_other_dimensions;
template <class... Facts> struct ERROR_R22_gradient_belongs_to_another_model;
template <class... Facts> struct ERROR_R22_optimiser_steps_the_model_that_it_was_made_for;
template <class... Facts> struct ERROR_R22_models_have_other_parts;
template <class... Facts> struct ERROR_R22_batches_are_added_as_averages;

// R23  A partial sum is reduced before anything but a sum or a product with whole values.
template <class... Facts> struct ERROR_R23_partial_sum_is_reduced_first;
template <class... Facts> struct ERROR_R23_whole_value_is_added_to_a_partial_sum;
template <class... Facts> struct ERROR_R23_partial_sums_are_multiplied;
template <class... Facts> struct ERROR_R23_declared_type_drops_or_invents_partial;
template <class... Facts> struct ERROR_R23_operand_is_no_partial_sum;
template <class... Facts> struct ERROR_R23_gradient_is_reduced_first;

// R24  What needs all elements of a dimension does not go over a shard of it.
template <class... Facts> struct ERROR_R24_operation_goes_over_a_shard;
template <class... Facts> struct ERROR_R24_mean_over_a_shard_divides_by_the_whole_extent;
template <class... Facts> struct ERROR_R24_whole_dimension_meets_its_shard;
template <class... Facts> struct ERROR_R24_dimension_has_no_such_shard;
template <class... Facts> struct ERROR_R24_operand_has_no_such_shard;
template <class... Facts> struct ERROR_R24_norm_of_a_divided_model_takes_the_mesh;
template <class... Facts> struct ERROR_R24_draw_of_a_divided_model_takes_the_mesh;
template <class... Facts> struct ERROR_R24_divided_parameters_are_drawn_by_initialise;

// R25  A mesh axis occurs once in a tensor, shards and partial sums together.
template <class... Facts> struct ERROR_R25_mesh_axis_occurs_twice;
template <class... Facts> struct ERROR_R25_mesh_has_no_such_axis;
template <class... Facts> struct ERROR_R25_model_names_no_axis_of_stages;
template <class... Facts> struct ERROR_R25_model_is_one_of_several_stages;
// clang-format on

}  // namespace dimwise

#if defined(DIMWISE_DETAIL_MESSAGES)
#include <dimwise/support/error_messages.hpp>
#endif
