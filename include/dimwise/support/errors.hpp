// SPDX-License-Identifier: BSL-1.0
// dimwise/support/errors.hpp -- every compile error of the library: declared, never defined in C++20.
//
// Layer: support. A rule that says no returns one of these types; a compiler that meets it prints its name and
// arguments. The arguments are the operation, the dimensions with their extents, and the shapes.
// support/diagnostics.hpp has an entry for each: its meaning, message, causes and fix. In C++26, clang from 17 prints
// the message instead: support/error_messages.hpp defines the types then, so that to look into one is an error, in a
// concept as well. DIMWISE_ERRORS_ARE_TYPES leaves them undefined. Constructors say messages with
// DIMWISE_SENTENCES_IN_CONSTRUCTORS only: the standard library checks what every type can be constructed from.
#pragma once

// Behind a function that refuses and takes a user's function: g++ adds an error where one that is declared only is
// called with a lambda, which is a local type; clang names the error at a deleted one too late.
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

#if defined(DIMWISE_DETAIL_MESSAGES) && defined(DIMWISE_SENTENCES_IN_CONSTRUCTORS)
#define DIMWISE_DETAIL_CONSTRUCTORS_SAY
#endif

// Behind a constructor that refuses, which cannot return its error.
#if defined(DIMWISE_DETAIL_CONSTRUCTORS_SAY)
#define DIMWISE_DETAIL_REFUSED(Error) noexcept(sizeof(Error) > 0)
#else
#define DIMWISE_DETAIL_REFUSED(Error) = delete
#endif

namespace dimwise {

// R1  A contraction names its dimension, and both operands have it; what an operation names occurs in its operand.

/// One operand of a product lacks a dimension that it sums over or runs along.
template <class... Facts>
struct ERROR_R1_contracted_dimension_is_not_in_both;

/// The operation was called without the dimension that it works on, or with a type that is none: `softmax<key>(s)`.
template <class... Facts>
struct ERROR_R1_operation_names_its_dimension;

/// The operation names a dimension that its operand does not have.
template <class... Facts>
struct ERROR_R1_dimension_is_not_in_the_operand;

/// A type among a tensor's dimensions is no dimension: `struct seq : position_dim<> {};` makes one.
template <class... Facts>
struct ERROR_R1_tensor_names_dimensions;

/// A tensor names the type of its elements first: `tensor<float, seq>`.
template <class... Facts>
struct ERROR_R1_element_type_comes_first;

/// An argument is missing, one too many, or not what the operation takes: a tensor, a mask, a number, an extent.
template <class... Facts>
struct ERROR_R1_operation_takes_other_arguments;

/// The operation is spelled as in another library: `use_instead` has the word of this one.
template <class... Facts>
struct ERROR_R1_operation_has_another_name;

/// A module is called with other arguments than it takes: too few, or none that is a tensor.
template <class... Facts>
struct ERROR_R1_module_takes_other_arguments;

// R2  A dimension that both operands have and that is not contracted is parallel, or named by `along`.

/// The result would be a diagonal: rename one side, contract it, or say `along<D>{}`.
template <class... Facts>
struct ERROR_R2_shared_dimension_is_not_parallel;

/// Both operands of a product share all that they keep: each element meets one partner only, and a softmax has nothing
/// to choose from.
template <class... Facts>
struct ERROR_R2_shared_dimension_pairs_elements_one_to_one;

// R3  Identity is not extent.

/// The two dimensions are not related; `relabel` is the visible exception.
template <class... Facts>
struct ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out;

/// The compiler sees that the two extents differ.
template <class... Facts>
struct ERROR_R3_extents_differ;

/// Weights over one dimension meet values at other positions: rename the values.
template <class... Facts>
struct ERROR_R3_values_are_at_other_positions_than_the_weights;

/// The expression has other dimensions than the declared type.
template <class... Facts>
struct ERROR_R3_assigned_dimensions_differ;

/// A view has the dimensions, order and elements of its tensor; an expression has no memory: evaluate it first.
template <class... Facts>
struct ERROR_R3_view_and_tensor_differ_in_type;

/// A pointer to, or a span of, the elements of a temporary: they are gone at the end of the line.
template <class... Facts>
struct ERROR_R3_elements_of_a_temporary_are_gone;

/// The order in which a file stores a parameter lists every dimension of the parameter once, and no other.
template <class... Facts>
struct ERROR_R3_stored_order_lists_each_dimension_once;

// R4  Split and merge go through composites whose order and factors are part of the type.

/// A `divided` dimension whose extents do not divide.
template <class... Facts>
struct ERROR_R4_extent_does_not_divide;

/// The dimension hides in a composite, or the composite has other factors or another order.
template <class... Facts>
struct ERROR_R4_composite_has_other_factors_or_order;

/// A composite is not the declared dimension, even of the same extent: heads that were merged are not the model
/// dimension, and W_O is missing.
template <class... Facts>
struct ERROR_R4_composite_is_not_the_declared_dimension;

// R5  Weights that sum to one over D are contracted over D.

/// Weights are contracted over another position, or beside an operand that keeps theirs.
template <class... Facts>
struct ERROR_R5_weights_are_contracted_over_their_own_dimension;

/// The operand already sums to one.
template <class... Facts>
struct ERROR_R5_already_normalised;

/// Logarithms of probabilities are added to probabilities.
template <class... Facts>
struct ERROR_R5_log_probabilities_meet_probabilities;

/// Elements of log-probabilities are taken along another dimension than the one that they are normalised over.
template <class... Facts>
struct ERROR_R5_log_probabilities_are_taken_along_their_own_dimension;

/// A product with weights is reduced over their dimension only.
template <class... Facts>
struct ERROR_R5_weighted_product_is_reduced_over_its_weights_only;

/// The mean over the dimension of weights divides once more by its extent: their sum is 1, that of their products the
/// average.
template <class... Facts>
struct ERROR_R5_mean_divides_weights_that_already_sum_to_one;

/// Softmax over an extent of 1 gives 1 everywhere.
template <class... Facts>
struct ERROR_R5_softmax_over_a_single_element;

/// Alternatives are chosen by weights that sum to one over positions: these compare positions, not alternatives.
template <class... Facts>
struct ERROR_R5_alternatives_are_chosen_by_weights_over_positions;

/// The declared type and the expression differ in `normalised`, `weighted` or `log_normalised`.
template <class... Facts>
struct ERROR_R5_declared_type_drops_or_invents_normalised;

// R6  A product of positions over features is raw until it is scaled.

/// Softmax and `biased` take scores: `scores`, `scaled` or `unscaled` first.
template <class... Facts>
struct ERROR_R6_raw_products_are_scaled_first;

/// The raw product was multiplied or divided by hand: `scaled(p, x)` says that x is its scale, `unscaled(p)` that it
/// has one.
template <class... Facts>
struct ERROR_R6_raw_product_was_multiplied_instead_of_scaled;

/// Nothing is scaled twice.
template <class... Facts>
struct ERROR_R6_scores_are_already_scaled;

/// Scores go to softmax: nothing else makes them weights.
template <class... Facts>
struct ERROR_R6_scores_go_to_softmax;

/// Only a raw product is scaled into scores.
template <class... Facts>
struct ERROR_R6_scaled_takes_raw_products;

/// The scale is that of the features that were contracted, not of others.
template <class... Facts>
struct ERROR_R6_scaled_names_the_contracted_features;

/// A stored product has forgotten the run-time extent of its features: `scaled(s, x)`.
template <class... Facts>
struct ERROR_R6_stored_product_has_lost_the_extent_of_its_features;

/// The product leaves a feature or a choice, or no positions: these are no scores.
template <class... Facts>
struct ERROR_R6_scores_are_products_of_positions;

/// Raw products and scores are not contracted over positions: softmax first, or `plain`.
template <class... Facts>
struct ERROR_R6_scores_are_contracted_only_after_softmax;

/// The declared type and the expression differ in `raw` or `score`.
template <class... Facts>
struct ERROR_R6_declared_type_drops_or_invents_raw_or_score;

// R7  Masks contain the dimension that follows, have a polarity, and come before softmax.

/// A tensor of bool is no mask, and no number, until `allow` or `block` says what true means.
template <class... Facts>
struct ERROR_R7_mask_needs_a_polarity_allow_or_block;

/// Masks are `allow` masks: `allow_of(block(…))` converts the other polarity.
template <class... Facts>
struct ERROR_R7_block_mask_needs_allow_of;

/// `allow` and `block` take tensors of bool.
template <class... Facts>
struct ERROR_R7_given_mask_is_a_tensor_of_bool;

/// A comparison gives a tensor of bool, one for each element, and no single truth: it is not the condition of an `if`.
template <class... Facts>
struct ERROR_R7_tensor_of_bool_is_no_condition;

/// A mask says of each pair whether it is visible, and is no single truth: `&&` and `||` do not combine masks.
template <class... Facts>
struct ERROR_R7_mask_is_no_condition;

/// ALiBi slopes belong to heads.
template <class... Facts>
struct ERROR_R7_alibi_has_a_slope_for_each_head;

/// A mask or bias may add parallel dimensions, no others.
template <class... Facts>
struct ERROR_R7_mask_has_dimensions_that_the_scores_lack;

/// No softmax could follow: the masks have no common key side.
template <class... Facts>
struct ERROR_R7_masks_serve_no_common_dimension;

/// The mask was made for another dimension than the one that is reduced.
template <class... Facts>
struct ERROR_R7_mask_does_not_serve_this_dimension;

/// What is normalised is not masked or biased.
template <class... Facts>
struct ERROR_R7_masking_comes_before_softmax;

/// What is masked is not contracted or normalised in another way.
template <class... Facts>
struct ERROR_R7_masked_values_go_to_softmax_or_a_reduction;

/// What is masked passes `exp` and `sigmoid` only; apply functions before the mask.
template <class... Facts>
struct ERROR_R7_masked_values_are_given_to_a_function;

/// The arguments behind the values of an attention are masks, biases, or functions of the scores (not of their
/// elements: `map`).
template <class... Facts>
struct ERROR_R7_scores_change_by_a_mask_a_bias_or_a_function;

/// A mask has no elements to print: `indicator` gives them.
template <class... Facts>
struct ERROR_R7_mask_has_no_elements_to_print;

/// The two dimensions are unrelated, or differ in extent: give their origins.
template <class... Facts>
struct ERROR_R7_query_and_key_positions_are_related_or_have_origins;

/// The lengths of `padding` are whole numbers over parallel dimensions.
template <class... Facts>
struct ERROR_R7_lengths_are_no_whole_numbers_over_parallel_dimensions;

/// A bias that is the same for all that softmax goes over changes nothing, as where it lacks that dimension.
template <class... Facts>
struct ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over;

/// A bias, or anything else that scores are combined with, is masked: mask the scores.
template <class... Facts>
struct ERROR_R7_bias_is_masked_instead_of_the_scores;

/// Biased scores have the mark `biased_for<…>`, and the declared type has another one or none: `tensor t = biased(s,
/// b);` deduces it.
template <class... Facts>
struct ERROR_R7_declared_type_drops_or_invents_biased;

/// The declared type and the expression differ in `masked_for`.
template <class... Facts>
struct ERROR_R7_declared_type_drops_or_invents_masked;

// R8  Broadcasting only adds dimensions that one operand lacks.

/// Neither operand's dimensions include the other's: `broadcast_like`.
template <class... Facts>
struct ERROR_R8_neither_has_all_dimensions_of_the_other;

/// The expression lacks a dimension of the declared type.
template <class... Facts>
struct ERROR_R8_assignment_never_broadcasts;

// R9  Rotary names position and feature; queries and keys agree; values are not rotated.

/// Nothing is rotated twice.
template <class... Facts>
struct ERROR_R9_already_rotated;

/// Queries and keys are both rotated, or neither is.
template <class... Facts>
struct ERROR_R9_only_one_operand_is_rotated;

/// Both are rotated, and not alike: one names the positions that turned it, or other ones.
template <class... Facts>
struct ERROR_R9_operands_are_rotated_by_other_positions;

/// Weights meet values that are rotated.
template <class... Facts>
struct ERROR_R9_values_are_not_rotated;

/// Rotary takes an ordered dimension and an even feature that is no product of heads.
template <class... Facts>
struct ERROR_R9_rotary_takes_positions_and_the_features_of_a_head;

/// The positions that are given are whole numbers. They, or the cosines and sines, have the rotated dimension and
/// dimensions of the operand, and cosines and sines one feature more, which counts the pairs.
template <class... Facts>
struct ERROR_R9_angles_do_not_belong_to_the_rotated_positions;

/// The declared type and the expression differ in `rotated`.
template <class... Facts>
struct ERROR_R9_declared_type_drops_or_invents_rotated;

// R10  Concatenation names its dimension; all others are identical.

/// The operands differ in a dimension or mark besides the one that grows.
template <class... Facts>
struct ERROR_R10_operands_differ_in_another_dimension;

/// The grown dimension has a static extent: concatenate into `summed<…>`.
template <class... Facts>
struct ERROR_R10_concat_of_a_static_extent_names_its_result;

/// The number of operands is not the extent of the new dimension.
template <class... Facts>
struct ERROR_R10_stack_has_another_extent;

/// Keys were given without values, or for a cache that has others; or one side has a part, such as a prefix, that the
/// other lacks.
template <class... Facts>
struct ERROR_R10_keys_and_values_grow_together;

/// A side of a cache that is stored as whole numbers takes its scale. Scales come first: keys, values, extents.
template <class... Facts>
struct ERROR_R10_whole_numbers_are_stored_by_scales;

/// A cache grows along a dimension whose extent is known when the program runs only.
template <class... Facts>
struct ERROR_R10_cache_grows_along_a_run_time_extent;

/// Two elements of 4 bits share a byte along the last dimension: a cache grows along another one.
template <class... Facts>
struct ERROR_R10_cache_grows_by_whole_bytes;

// R11  Grouped heads: nothing is repeated, every query head has its key head.

/// Each operand has a heads dimension that the other lacks.
template <class... Facts>
struct ERROR_R11_every_head_against_every_head;

// R12  Weights have distinct input and output dimensions.

/// The weight sums over heads that the operand no longer has: they were averaged or indexed away.
template <class... Facts>
struct ERROR_R12_weight_sums_over_heads_that_are_gone;

/// The operand has the input side of a square weight, not its output side.
template <class... Facts>
struct ERROR_R12_weight_is_applied_the_wrong_way_round;

// R13  Operations take dimensions of the kind that they are for.

/// Softmax goes over positions or alternatives.
template <class... Facts>
struct ERROR_R13_softmax_takes_attendable_or_choice;

/// layer_norm and rms_norm go over features; `standardize` takes any.
template <class... Facts>
struct ERROR_R13_norm_takes_features;

/// The operation needs dimensions whose elements have positions.
template <class... Facts>
struct ERROR_R13_needs_ordered_positions;

/// Quotients, means, products, exponentials and norms are of real numbers: convert whole ones with `map`.
template <class... Facts>
struct ERROR_R13_needs_real_numbers;

/// Elements of 16 or 4 bits are stored, not computed with: `widened` and `dequantised` make floats of them.
template <class... Facts>
struct ERROR_R13_stored_numbers_are_widened_first;

/// A window and its steps have static extents that do not fit, or the dimension is not ordered.
template <class... Facts>
struct ERROR_R13_window_does_not_fit;

/// `sinusoid<positions, features>`.
template <class... Facts>
struct ERROR_R13_sinusoid_takes_positions_and_features;

/// Elements become the declared type without loss only: `map` converts them.
template <class... Facts>
struct ERROR_R13_elements_do_not_fit_the_declared_type;

// R14  Fused projections are summed dimensions.

/// The operand has no summed dimension with this part.
template <class... Facts>
struct ERROR_R14_part_is_taken_from_a_summed_dimension;

// R15  Run-time extents are given once and checked where tensors meet.

/// A tensor is constructed from one extent of each run-time dimension.
template <class... Facts>
struct ERROR_R15_run_time_extents_are_given_once;

/// A tensor is made from its run-time extents, from elements and these, or from an expression.
template <class... Facts>
struct ERROR_R15_tensor_is_made_from_elements_and_extents;

/// A view is made from a pointer or a span of its elements, strides if need be, and its run-time extents.
template <class... Facts>
struct ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents;

// R16  Query, key and value are told apart by their dimensions.

/// The operand of `scores` has other features: a value where a key belongs, or operands in another order.
template <class... Facts>
struct ERROR_R16_query_key_and_value_are_told_apart_by_dimensions;

// R17  A dimension occurs once per tensor.

/// A dimension, or a factor of a composite, occurs twice.
template <class... Facts>
struct ERROR_R17_dimension_occurs_twice;

// R18  Indexing removes, slicing keeps.

/// One element of D meets a tensor that has D: `broadcast<D>` first, or `slice`.
template <class... Facts>
struct ERROR_R18_single_element_meets_its_whole_dimension;

/// More elements are requested than the dimension has.
template <class... Facts>
struct ERROR_R18_more_elements_than_the_dimension_has;

/// An `id<D>` indexes D and nothing else; nothing is computed with it.
template <class... Facts>
struct ERROR_R18_ids_index_their_own_dimension_only;

/// An id of a product says an element of each factor: `split` the operand and `split_ids` the ids, or take the `part`.
template <class... Facts>
struct ERROR_R18_ids_of_a_composite_are_split_first;

/// A slice of a composite is none: it names the plain dimension that it gives, `slice<merged<a, b>, rows>(x, first,
/// count)`.
template <class... Facts>
struct ERROR_R18_slice_of_a_composite_names_a_plain_dimension;

/// The extent changes: `slice<D, Result>(x, first)`.
template <class... Facts>
struct ERROR_R18_slice_of_a_static_extent_names_its_result;

/// The result's static extent is larger than the dimension's.
template <class... Facts>
struct ERROR_R18_slice_is_longer_than_its_dimension;

/// A slice of features is features; `relabel` says otherwise.
template <class... Facts>
struct ERROR_R18_slice_has_another_kind;

/// One element is taken by one id of each dimension: `x(id<seq>{1}, id<d_model>{0})`.
template <class... Facts>
struct ERROR_R18_element_is_taken_by_one_id_of_each_dimension;

// R19  What mixes packed positions needs their documents.

/// Positions of several documents would mix: mask with `document<…>`.
template <class... Facts>
struct ERROR_R19_packed_positions_need_their_documents;

/// The mean of a loss would go over the positions of all documents: `all_documents{}` says so.
template <class... Facts>
struct ERROR_R19_mean_over_all_documents_says_so;

// R21  A loss is one number, and what has no derivative is refused by its name.

/// The operation has no derivative, or none that the library knows: take its operand as a constant by `detached(x)`.
template <class... Facts>
struct ERROR_R21_operation_has_no_gradient;

/// A loss is one number: a mean or a sum that names its dimensions.
template <class... Facts>
struct ERROR_R21_loss_is_one_number;

/// The model has no tensor of real numbers, so there is nothing to differentiate by.
template <class... Facts>
struct ERROR_R21_model_has_no_parameters;

/// The second is a member of the first, and holds parameters that no walk finds: it is neither a module nor a tensor,
/// nor a std::vector, std::array or std::tuple of them.
template <class... Facts>
struct ERROR_R21_member_hides_its_parameters;

/// The second is a part of the first, or the first is the whole model: its elements stay as they are where the model is
/// tracked, so that it would not be trained.
template <class... Facts>
struct ERROR_R21_module_does_not_take_its_element_type;

/// A loss that does not depend on the model through tracked tensors: its gradient would be zero.
template <class... Facts>
struct ERROR_R21_loss_has_no_tracked_operand;

/// The loss is of another element type than the model: an operand that the model meets has wider elements.
template <class... Facts>
struct ERROR_R21_loss_has_other_elements_than_the_model;

/// The declared type has plain elements, and the expression tracked ones: the gradient would end here.
template <class... Facts>
struct ERROR_R21_declared_type_drops_the_gradient;

/// The model is tracked already: gradients of gradients are not recorded.
template <class... Facts>
struct ERROR_R21_gradients_of_gradients_are_not_recorded;

// R22  A loss compares what has the same dimensions, takes logits, and its mean goes over named dimensions.

/// Predictions and targets have other dimensions: nothing is broadcast in a loss.
template <class... Facts>
struct ERROR_R22_targets_have_other_dimensions;

/// Logarithms of probabilities are no logits: the loss takes the logits and normalises them itself.
template <class... Facts>
struct ERROR_R22_logits_are_log_probabilities;

/// The targets of a cross-entropy are probabilities: their logarithms weigh the alternatives by negative numbers.
template <class... Facts>
struct ERROR_R22_targets_are_log_probabilities;

/// The student of a divergence is a constant, and its teacher learns: the student comes first.
template <class... Facts>
struct ERROR_R22_student_and_teacher_are_exchanged;

/// An average is added to an average over the same dimensions; to all else its mean is added.
template <class... Facts>
struct ERROR_R22_mean_of_an_average_is_added;

/// A loss is an average: a sum and a count. `mean()` is a number as an expression, `value()` its value.
template <class... Facts>
struct ERROR_R22_average_becomes_a_number_by_mean_or_value;

/// Probabilities are no logits: the loss takes the logits, and their sigmoid itself.
template <class... Facts>
struct ERROR_R22_logits_are_probabilities;

/// The dimensions that are named are not those of the loss's elements.
template <class... Facts>
struct ERROR_R22_mean_goes_over_the_elements_of_the_loss;

/// Targets sum to one over another dimension than the one that the loss normalises.
template <class... Facts>
struct ERROR_R22_targets_sum_to_one_over_another_dimension;

/// What weighs a loss has dimensions that the loss does not weigh by.
template <class... Facts>
struct ERROR_R22_weights_have_other_dimensions;

/// A step takes the gradient of its own model, which has the model's type.
template <class... Facts>
struct ERROR_R22_gradient_belongs_to_another_model;

/// Batches are added by sums and counts: the loss of each is an `average`, and not its mean.
template <class... Facts>
struct ERROR_R22_batches_are_added_as_averages;

}  // namespace dimwise

#if defined(DIMWISE_DETAIL_MESSAGES)
#include <dimwise/support/error_messages.hpp>
#endif
