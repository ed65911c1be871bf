// tests/shape/rules/positions.test.cpp -- what depends on positions: rotary, windows, skew, and the best of several.
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"
#include <dimwise/shape/rules/loss.hpp>
#include <dimwise/shape/rules/positions.hpp>

#include <doctest/doctest.h>

namespace shape_test {
namespace {

using Q = shape<batch, seq, heads, d_k>;
struct odd_width : feature_dim<5> {};
struct kernel : position_dim<3> {};
struct free_kernel : position_dim<> {};
struct five : position_dim<5> {};
struct six : position_dim<6> {};
struct distance : position_dim<> {};
struct best : choice_dim<2> {};
struct too_many : choice_dim<12> {};

// R9: rotary takes an ordered dimension and a feature of even extent, and marks the feature.
static_assert(gives<rule::rotary<seq, d_k, Q>, shape<batch, seq, heads, d_k, rotated<d_k, seq>>>);
static_assert(gives<rule::rotary<seq, d_ff, shape<seq, d_ff>>, shape<seq, d_ff, rotated<d_ff, seq>>>);
//     A prime is called by its dimension: queries and keys of one sequence agree.
static_assert(
    gives<rule::rotary<key, d_k, shape<batch, key, heads, d_k>>, shape<batch, key, heads, d_k, rotated<d_k, seq>>>);
struct key_of_key : prime<key> {};
static_assert(gives<rule::rotary<key_of_key, d_k, shape<key_of_key, d_k>>, shape<key_of_key, d_k, rotated<d_k, seq>>>);
static_assert(gives<rule::rotary<src, d_k, shape<src, d_k>>, shape<src, d_k, rotated<d_k, src>>>);
//     Nothing is turned twice, by whatever positions.
static_assert(says<ERROR_R9_already_rotated, rule::rotary<seq, d_k, shape<seq, src, d_k, rotated<d_k, src>>>>);
//     Queries and keys agree in feature and positions; so do the operands of a sum, and what goes into a cache.
using turned_q = shape<seq, d_k, rotated<d_k, seq>>;
static_assert(allowed<rule::scores<list<d_k>, turned_q, shape<key, d_k, rotated<d_k, seq>>>>);
static_assert(std::is_same_v<rule::scores<list<d_k>, turned_q, shape<key, d_k, rotated<d_k, src>>>,
                             ERROR_R9_operands_are_rotated_by_other_positions<op::scores, over<about<d_k, extent<4>>>,
                                                                              lhs<seq, d_k, rotated<d_k, seq>>,
                                                                              rhs<key, d_k, rotated<d_k, src>>>>);
static_assert(gives<rule::added<turned_q, turned_q>, turned_q>);
static_assert(
    std::is_same_v<rule::added<turned_q, shape<d_k>>,
                   ERROR_R9_only_one_operand_is_rotated<op::elementwise, lhs<seq, d_k, rotated<d_k, seq>>, rhs<d_k>>>);
static_assert(says<ERROR_R9_only_one_operand_is_rotated, rule::added<shape<seq>, turned_q>>);
using turned_by_src = shape<seq, d_k, rotated<d_k, src>>;
static_assert(says<ERROR_R9_operands_are_rotated_by_other_positions, rule::added<turned_q, turned_by_src>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other, rule::added<turned_q, shape<batch>>>);
static_assert(gives<rule::added<turned_q, shape<>>, turned_q> &&
              gives<rule::added<shape<>, turned_q>, turned_q>);  // elu(q) + 1
static_assert(
    says<ERROR_R9_operands_are_rotated_by_other_positions, rule::chosen<op::clamp, turned_q, shape<>, turned_by_src>> &&
    says<ERROR_R9_operands_are_rotated_by_other_positions,
         rule::loss_of_pairs<op::mean_squared_error, list<>, turned_q, turned_by_src, false>>);
//     Nor is one chosen from what is rotated and what is not; a number stands for every feature.
static_assert(says<ERROR_R9_only_one_operand_is_rotated, rule::chosen<op::maximum, turned_q, shape<d_k>>> &&
              says<ERROR_R9_only_one_operand_is_rotated, rule::chosen<op::clamp, turned_q, shape<>, shape<d_k>>> &&
              says<ERROR_R9_only_one_operand_is_rotated, rule::chosen<op::clamp, shape<seq, d_k>, shape<>, turned_q>>);
static_assert(gives<rule::chosen<op::clamp, turned_q, shape<>, shape<>>, turned_q> &&
              gives<rule::chosen<op::minimum, turned_q, turned_q>, turned_q>);
static_assert(says<ERROR_R9_only_one_operand_is_rotated, rule::chosen_by<shape<seq>, turned_q, shape<seq, d_k>>> &&
              gives<rule::chosen_by<shape<seq>, turned_q, shape<>>, turned_q> &&
              gives<rule::chosen_by<shape<seq>, turned_q, turned_q>, turned_q>);
static_assert(gives<rule::multiplied<turned_q, shape<>>, turned_q> &&
              gives<rule::multiplied<turned_q, shape<heads, seq, d_k>>, shape<heads, seq, d_k, rotated<d_k, seq>>>);
//     The positions keep their name where others take their place: one of them, some of them, all under a new name.
static_assert(gives<rule::at<seq, turned_q>, shape<d_k, rotated<d_k, seq>, indexed<seq>>>);
static_assert(gives<rule::rename<seq, key, turned_q>, shape<key, d_k, rotated<d_k, seq>>>);
static_assert(gives<rule::relabel<seq, src, turned_q>, shape<src, d_k, rotated<d_k, src>>>);
static_assert(gives<rule::relabel<key, src, shape<key, d_k, rotated<d_k, seq>>>, shape<src, d_k, rotated<d_k, src>>>);
static_assert(gives<rule::relabel<src, key, shape<src, d_k, rotated<d_k, src>>>, shape<key, d_k, rotated<d_k, seq>>>);
static_assert(gives<rule::relabel<batch, layers, shape<batch, seq, d_k, rotated<d_k, seq>>>,
                    shape<layers, seq, d_k, rotated<d_k, seq>>>);
struct chunk : position_dim<> {};
static_assert(gives<rule::slice<seq, chunk, turned_q>, shape<chunk, d_k, rotated<d_k, seq>>>);
static_assert(gives<rule::gather<seq, seq, turned_q, shape<chunk>>, shape<chunk, d_k, rotated<d_k, seq>>>);
static_assert(gives<rule::concat<seq, turned_q, turned_q>, turned_q>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension,
                   rule::concat<seq, turned_q, shape<seq, d_k, rotated<d_k, src>>>>);
static_assert(gives<rule::concat<summed<chunk, seq>, shape<chunk, d_k, rotated<d_k, seq>>, turned_q>,
                    shape<summed<chunk, seq>, d_k, rotated<d_k, seq>>>);
static_assert(gives<rule::part<seq, shape<summed<chunk, seq>, d_k, rotated<d_k, seq>>>, turned_q>);
static_assert(gives<rule::split<shape<merged<batch, heads>, seq, d_k, rotated<d_k, seq>>, batch, heads>,
                    shape<batch, heads, seq, d_k, rotated<d_k, seq>>>);
static_assert(gives<rule::unroll<seq, one, chunk, turned_q>, shape<chunk, one, d_k, rotated<d_k, seq>>>);
//     Rows turn one half of the features, columns the other: two dimensions of an image.
struct row : position_dim<> {};
struct column : position_dim<> {};
struct row_half : feature_dim<2> {};
struct column_half : feature_dim<2> {};
using both_halves = summed<row_half, column_half>;
static_assert(gives<rule::concat<both_halves, shape<row, column, row_half, rotated<row_half, row>>,
                                 shape<row, column, column_half, rotated<column_half, column>>>,
                    detail::make_shape_t<list<row, column, both_halves>,
                                         list<rotated<row_half, row>, rotated<column_half, column>>>>);
using of_image =
    detail::make_shape_t<list<row, column, both_halves>, list<rotated<row_half, row>, rotated<column_half, column>>>;
using of_words =
    detail::make_shape_t<list<key, both_halves>, list<rotated<row_half, row>, rotated<column_half, column>>>;
using of_rows = detail::make_shape_t<list<key, both_halves>, list<rotated<row_half, row>, rotated<column_half, row>>>;
static_assert(allowed<rule::scores<list<both_halves>, of_image, of_words>>);
static_assert(
    says<ERROR_R9_operands_are_rotated_by_other_positions, rule::scores<list<both_halves>, of_image, of_rows>>);
static_assert(gives<rule::part<row_half, shape<row, both_halves, rotated<row_half, row>>>,
                    shape<row, row_half, rotated<row_half, row>>>);
static_assert(gives<rule::part<column_half, shape<row, both_halves, rotated<row_half, row>>>, shape<row, column_half>>);
static_assert(
    gives<rule::rotary<packed_seq, d_k, shape<packed_seq, d_k>>, shape<packed_seq, d_k, rotated<d_k, packed_seq>>>);
static_assert(
    std::is_same_v<rule::rotary<heads, d_k, Q>, ERROR_R9_rotary_takes_positions_and_the_features_of_a_head<
                                                    op::rotary, over<about<heads, extent<3>>, about<d_k, extent<4>>>,
                                                    operand_shape<batch, seq, heads, d_k>>>);
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head, rule::rotary<seq, heads, Q>>);
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head,
                   rule::rotary<seq, odd_width, shape<seq, odd_width>>>);
//     No composite, whether it is named or hides the feature.
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head,
                   rule::rotary<seq, merged<heads, d_k>, shape<seq, merged<heads, d_k>>>>);
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head,
                   rule::rotary<seq, d_k, shape<seq, merged<heads, d_k>>>>);
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head,
                   rule::rotary<summed<one, src>, d_k, shape<summed<one, src>, d_k>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::rotary<key, d_k, Q>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::rotary<seq, d_v, Q>>);
//     Nothing is rotated twice; another feature may be.
static_assert(says<ERROR_R9_already_rotated, rule::rotary<seq, d_k, shape<seq, d_k, rotated<d_k, seq>>>>);
//     Given angles count the pairs by a feature that the operand lacks, also inside a composite.
struct pairs_of_two : feature_dim<2> {};
static_assert(allowed<rule::rotary_by<seq, d_k, shape<seq, d_k>, shape<seq, pairs_of_two>, shape<seq, pairs_of_two>>>);
static_assert(says<ERROR_R9_angles_do_not_belong_to_the_rotated_positions,
                   rule::rotary_by<seq, d_k, shape<seq, d_k, merged<heads, pairs_of_two>>, shape<seq, pairs_of_two>,
                                   shape<seq, pairs_of_two>>>);
static_assert(gives<rule::rotary<seq, d_k, shape<seq, d_k, d_v, rotated<d_v, seq>>>,
                    shape<seq, d_k, d_v, rotated<d_k, seq>, rotated<d_v, seq>>>);
//     Nor scores, nor weights.
static_assert(says<ERROR_R6_raw_products_are_scaled_first, rule::rotary<seq, d_k, shape<seq, d_k, raw<d_v>>>>);
static_assert(says<ERROR_R6_scores_go_to_softmax, rule::rotary<seq, d_k, shape<seq, d_k, score<d_v>>>>);
static_assert(says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction,
                   rule::rotary<seq, d_k, shape<seq, d_k, masked_for<seq>>>>);
static_assert(says<ERROR_R5_already_normalised, rule::rotary<seq, d_k, shape<seq, d_k, normalised<seq>>>>);
static_assert(says<ERROR_R5_weighted_product_is_reduced_over_its_weights_only,
                   rule::rotary<seq, d_k, shape<seq, d_k, weighted<seq>>>>);

// R13: windows slide over ordered dimensions; a static extent names its result, which fits.
using X = shape<batch, seq, d_model>;
using Y = shape<src, d_model>;
static_assert(gives<rule::unroll<seq, kernel, seq, X>, shape<batch, seq, kernel, d_model>>);
static_assert(gives<rule::unroll<src, kernel, five, Y>, shape<five, kernel, d_model>>);
struct two : position_dim<2> {};
static_assert(gives<rule::pool<six, kernel, two, shape<six, batch>>, shape<two, kernel, batch>>);
static_assert(says<ERROR_R13_window_does_not_fit, rule::unroll<src, kernel, six, Y>>);
static_assert(says<ERROR_R13_window_does_not_fit, rule::pool<src, kernel, two, Y>>);
static_assert(says<ERROR_R13_window_does_not_fit, rule::unroll<six, kernel, two, shape<six>>>);
static_assert(allowed<rule::unroll<src, free_kernel, six, Y>> && allowed<rule::unroll<seq, kernel, five, X>> &&
              allowed<rule::unroll<src, kernel, seq, Y>>);
static_assert(says<ERROR_R18_slice_of_a_static_extent_names_its_result, rule::unroll<src, kernel, src, Y>>);
//     With a stride: (n - |W|) / stride + 1 windows.
struct nine : position_dim<9> {};
struct four : position_dim<4> {};
static_assert(gives<rule::unroll_by<seq, kernel, seq, 2, X>, shape<batch, seq, kernel, d_model>>);
static_assert(gives<rule::unroll_by<nine, kernel, four, 2, shape<nine>>, shape<four, kernel>>);
static_assert(gives<rule::unroll_by<nine, kernel, two, 4, shape<nine>>, shape<two, kernel>>);
static_assert(says<ERROR_R13_window_does_not_fit, rule::unroll_by<nine, kernel, four, 3, shape<nine>>>);
static_assert(says<ERROR_R13_window_does_not_fit, rule::unroll_by<two, kernel, one, 2, shape<two>>>);
static_assert(says<ERROR_R18_slice_of_a_static_extent_names_its_result, rule::pool<six, kernel, six, shape<six>>>);
static_assert(says<ERROR_R13_needs_ordered_positions, rule::unroll<d_model, kernel, d_ff, X>>);
static_assert(says<ERROR_R13_needs_ordered_positions, rule::pool<batch, kernel, batch, X>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::unroll<key, kernel, key, X>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::unroll<seq, kernel, seq, shape<seq, kernel>>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents,
                   rule::unroll<packed_seq, kernel, packed_seq, shape<packed_seq>>>);
static_assert(says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction,
                   rule::pool<seq, kernel, seq, shape<seq, masked_for<seq>>>>);

// R7: skew turns relative into absolute positions of the related keys.
using Rel = shape<heads, seq, distance, raw<d_k>>;
static_assert(gives<rule::skew<seq, distance, key, Rel>, shape<heads, seq, key, raw<d_k>>>);
static_assert(
    gives<rule::skew<seq, distance, key, shape<seq, distance, normalised<distance>>>, shape<seq, key, weighted<key>>>);
static_assert(says<ERROR_R7_query_and_key_positions_are_related_or_have_origins, rule::skew<seq, distance, src, Rel>>);
static_assert(says<ERROR_R13_needs_ordered_positions, rule::skew<seq, heads, key, Rel>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::skew<seq, src, key, Rel>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::skew<key, distance, seq, Rel>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::skew<seq, distance, key, shape<seq, key, distance>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::skew<seq, seq, key, Rel>>);

// R18, R13: the best of some alternatives, no more than there are.
static_assert(gives<rule::top_k<vocab, best, shape<batch, vocab>>, shape<batch, best>>);
static_assert(gives<rule::top_k<vocab, best, shape<vocab, normalised<vocab>>>, shape<best, weighted<best>>>);
static_assert(gives<rule::top_k<vocab, best, shape<vocab, masked_for<vocab>>>, shape<best>>);
static_assert(says<ERROR_R18_more_elements_than_the_dimension_has, rule::top_k<vocab, too_many, shape<batch, vocab>>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice, rule::top_k<d_model, best, shape<d_model>>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice, rule::top_k<vocab, d_v, shape<vocab>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::top_k<vocab, best, X>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::top_k<vocab, best, shape<vocab, best>>>);
static_assert(
    says<ERROR_R7_mask_does_not_serve_this_dimension, rule::top_k<vocab, best, shape<seq, vocab, masked_for<seq>>>>);

TEST_CASE("shape: the rules of rotary, windows, skew and the best of several") {
  CHECK(allowed<rule::rotary<seq, d_k, Q>>);
  CHECK(refused<rule::rotary<heads, d_k, Q>>);
}

}  // namespace
}  // namespace shape_test
