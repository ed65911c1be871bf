// tests/shape/positions.test.cpp -- what depends on positions: rotary, windows, skew, and the best of several.
// SPDX-License-Identifier: BSL-1.0
#include "vocabulary.hpp"

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
static_assert(gives<rule::rotary<seq, d_k, Q>, shape<batch, seq, heads, d_k, rotated<d_k>>>);
static_assert(gives<rule::rotary<seq, d_ff, shape<seq, d_ff>>, shape<seq, d_ff, rotated<d_ff>>>);
static_assert(gives<rule::rotary<packed_seq, d_k, shape<packed_seq, d_k>>, shape<packed_seq, d_k, rotated<d_k>>>);
static_assert(std::is_same_v<rule::rotary<heads, d_k, Q>,
                             ERROR_R9_rotary_takes_positions_and_the_features_of_a_head<op::rotary, over<about<heads, extent<3>>, about<d_k, extent<4>>>,
                                                                                        operand_shape<batch, seq, heads, d_k>>>);
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head, rule::rotary<seq, heads, Q>>);
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head, rule::rotary<seq, odd_width, shape<seq, odd_width>>>);
//     No composite, whether it is named or hides the feature.
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head, rule::rotary<seq, merged<heads, d_k>, shape<seq, merged<heads, d_k>>>>);
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head, rule::rotary<seq, d_k, shape<seq, merged<heads, d_k>>>>);
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head, rule::rotary<summed<one, src>, d_k, shape<summed<one, src>, d_k>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::rotary<key, d_k, Q>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::rotary<seq, d_v, Q>>);
//     Nothing is rotated twice; another feature may be.
static_assert(says<ERROR_R9_already_rotated, rule::rotary<seq, d_k, shape<seq, d_k, rotated<d_k>>>>);
static_assert(gives<rule::rotary<seq, d_k, shape<seq, d_k, d_v, rotated<d_v>>>, shape<seq, d_k, d_v, rotated<d_k>, rotated<d_v>>>);
//     Nor scores, nor weights.
static_assert(says<ERROR_R6_raw_products_are_scaled_first, rule::rotary<seq, d_k, shape<seq, d_k, raw<d_v>>>>);
static_assert(says<ERROR_R6_scores_go_to_softmax, rule::rotary<seq, d_k, shape<seq, d_k, score<d_v>>>>);
static_assert(says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, rule::rotary<seq, d_k, shape<seq, d_k, masked_for<seq>>>>);
static_assert(says<ERROR_R5_already_normalised, rule::rotary<seq, d_k, shape<seq, d_k, normalised<seq>>>>);
static_assert(says<ERROR_R5_weighted_is_only_summed, rule::rotary<seq, d_k, shape<seq, d_k, weighted<seq>>>>);

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
static_assert(allowed<rule::unroll<src, free_kernel, six, Y>> && allowed<rule::unroll<seq, kernel, five, X>> && allowed<rule::unroll<src, kernel, seq, Y>>);
static_assert(says<ERROR_R18_slice_of_a_static_extent_names_its_result, rule::unroll<src, kernel, src, Y>>);
static_assert(says<ERROR_R18_slice_of_a_static_extent_names_its_result, rule::pool<six, kernel, six, shape<six>>>);
static_assert(says<ERROR_R13_needs_ordered_positions, rule::unroll<d_model, kernel, d_ff, X>>);
static_assert(says<ERROR_R13_needs_ordered_positions, rule::pool<batch, kernel, batch, X>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::unroll<key, kernel, key, X>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::unroll<seq, kernel, seq, shape<seq, kernel>>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents, rule::unroll<packed_seq, kernel, packed_seq, shape<packed_seq>>>);
static_assert(says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, rule::pool<seq, kernel, seq, shape<seq, masked_for<seq>>>>);

// R7: skew turns relative into absolute positions of the related keys.
using Rel = shape<heads, seq, distance, raw<d_k>>;
static_assert(gives<rule::skew<seq, distance, key, Rel>, shape<heads, seq, key, raw<d_k>>>);
static_assert(gives<rule::skew<seq, distance, key, shape<seq, distance, normalised<distance>>>, shape<seq, key, weighted<key>>>);
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
static_assert(says<ERROR_R18_more_than_there_are, rule::top_k<vocab, too_many, shape<batch, vocab>>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice, rule::top_k<d_model, best, shape<d_model>>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice, rule::top_k<vocab, d_v, shape<vocab>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::top_k<vocab, best, X>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::top_k<vocab, best, shape<vocab, best>>>);
static_assert(says<ERROR_R7_mask_does_not_serve_this_dimension, rule::top_k<vocab, best, shape<seq, vocab, masked_for<seq>>>>);

TEST_CASE("shape: the rules of rotary, windows, skew and the best of several") {
  CHECK(allowed<rule::rotary<seq, d_k, Q>>);
  CHECK(refused<rule::rotary<heads, d_k, Q>>);
}

}  // namespace
}  // namespace shape_test
