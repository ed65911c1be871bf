// tests/mutation/positions.test.cpp -- rotary, windows, skew and top_k: each condition of their rules.
//
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace mutation_positions {

using namespace shape_test;

struct rot : feature_dim<4> {};
struct odd : feature_dim<5> {};
struct any_width : feature_dim<> {};
struct ten : position_dim<10> {};
struct eight : position_dim<8> {};
struct five : position_dim<5> {};
struct window3 : position_dim<3> {};
struct window2 : position_dim<2> {};
struct any_window : position_dim<> {};
struct distance : position_dim<> {};
struct best : prime<vocab, 3> {};
struct too_many : prime<vocab, 12> {};
struct any_best : choice_dim<> {};

// --- rotary (R9) ---

template <class P, class F, class... D>
using turned = rule::rotary<P, F, shape<D...>>;
static_assert(gives<turned<seq, rot, batch, seq, heads, rot>, shape<batch, seq, heads, rot, rotated<rot, seq>>>);
static_assert(gives<turned<seq, any_width, seq, any_width>,
                    shape<seq, any_width, rotated<any_width, seq>>>);  // even when the program runs
// Positions are ordered, features are features and even, neither is a composite.
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head, turned<batch, rot, batch, seq, rot>>);
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head, turned<seq, vocab, seq, vocab>>);
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head, turned<seq, key, seq, key>>);
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head, turned<seq, odd, seq, odd>>);
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head,
                   turned<merged<seq, key>, rot, merged<seq, key>, rot>>);
static_assert(says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head,
                   turned<seq, merged<heads, rot>, seq, merged<heads, rot>>>);
static_assert(
    says<ERROR_R9_rotary_takes_positions_and_the_features_of_a_head, turned<seq, rot, seq, merged<heads, rot>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, turned<seq, rot, seq, heads, d_v>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, turned<seq, rot, batch, rot>>);
// Nothing is turned twice, and no scores or weights are.
static_assert(says<ERROR_R9_already_rotated, turned<seq, rot, seq, rot, rotated<rot, seq>>>);
static_assert(gives<turned<seq, rot, seq, rot, d_k, rotated<d_k, seq>>,
                    detail::make_shape_t<list<seq, rot, d_k>, list<rotated<rot, seq>, rotated<d_k, seq>>>>);
static_assert(says<ERROR_R6_raw_products_are_scaled_first, turned<seq, rot, seq, key, rot, raw<d_k>>>);
static_assert(says<ERROR_R6_scores_go_to_softmax, turned<seq, rot, seq, key, rot, score<d_k>>>);
static_assert(says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, turned<seq, rot, seq, rot, masked_for<seq>>>);
static_assert(says<ERROR_R5_already_normalised, turned<seq, rot, seq, rot, normalised<seq>>>);
static_assert(
    says<ERROR_R5_weighted_product_is_reduced_over_its_weights_only, turned<seq, rot, seq, rot, weighted<seq>>>);
// Positions are given along P and dimensions of the operand, angles along P and one feature more.
using headed = shape<batch, seq, heads, rot>;
using headed_turned = shape<batch, seq, heads, rot, rotated<rot, seq>>;
struct half : feature_dim<2> {};
struct other_half : feature_dim<2> {};
struct pair_heads : heads_dim<2> {};
template <class... D>
using at_positions = rule::rotary_at<seq, rot, headed, shape<D...>>;
static_assert(gives<at_positions<batch, seq>, headed_turned> && gives<at_positions<seq>, headed_turned>);
static_assert(says<ERROR_R9_angles_do_not_belong_to_the_rotated_positions, at_positions<batch>>);
// Positions and angles of one example are not those of all (R18).
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension, at_positions<seq, indexed<batch>>>);
static_assert(allowed<at_positions<seq, indexed<layers>>> && !gives<at_positions<seq, indexed<layers>>, headed_turned>);
static_assert(says<ERROR_R9_angles_do_not_belong_to_the_rotated_positions, at_positions<seq, key>>);
static_assert(says<ERROR_R9_angles_do_not_belong_to_the_rotated_positions, at_positions<seq, rot>>);
static_assert(says<ERROR_R9_already_rotated, rule::rotary_at<seq, rot, headed_turned, shape<seq>>>);
static_assert(
    says<ERROR_R9_already_rotated, rule::rotary_at<seq, rot, headed_turned, shape<batch>>>);  // one mistake at a time
template <class Cosines, class Sines>
using by_angles = rule::rotary_by<seq, rot, headed, Cosines, Sines>;
static_assert(gives<by_angles<shape<seq, half>, shape<seq, half>>, headed_turned> &&
              gives<by_angles<shape<batch, seq, half>, shape<half, batch, seq>>, headed_turned>);
static_assert(
    says<ERROR_R9_angles_do_not_belong_to_the_rotated_positions, by_angles<shape<seq, half>, shape<batch, seq, half>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   by_angles<shape<seq, half, indexed<batch>>, shape<seq, half>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   by_angles<shape<seq, half>, shape<seq, half, indexed<batch>>>>);
static_assert(allowed<by_angles<shape<seq, half, indexed<layers>>, shape<seq, half>>>);
static_assert(says<ERROR_R9_angles_do_not_belong_to_the_rotated_positions, by_angles<shape<half>, shape<half>>>);
static_assert(says<ERROR_R9_angles_do_not_belong_to_the_rotated_positions,
                   by_angles<shape<seq, rot, half>, shape<seq, rot, half>>>);
static_assert(says<ERROR_R9_angles_do_not_belong_to_the_rotated_positions, by_angles<shape<seq>, shape<seq>>>);
static_assert(says<ERROR_R9_angles_do_not_belong_to_the_rotated_positions,
                   by_angles<shape<seq, half, other_half>, shape<seq, half, other_half>>>);
static_assert(says<ERROR_R9_angles_do_not_belong_to_the_rotated_positions,
                   by_angles<shape<seq, pair_heads>, shape<seq, pair_heads>>>);
static_assert(
    says<ERROR_R9_already_rotated, rule::rotary_by<seq, rot, headed_turned, shape<seq, half>, shape<seq, half>>>);
static_assert(says<ERROR_R9_already_rotated, rule::rotary_by<seq, rot, headed_turned, shape<half>, shape<half>>>);

// --- unroll and pool (R13, R4, R18) ---

template <class D, class W, class Result, class... Dims>
using unrolled = rule::unroll<D, W, Result, shape<Dims...>>;
template <class D, class W, class Result, class... Dims>
using pooled = rule::pool<D, W, Result, shape<Dims...>>;
static_assert(gives<unrolled<seq, window3, seq, batch, seq, d_k>, shape<batch, seq, window3, d_k>>);
static_assert(gives<unrolled<ten, window3, eight, ten, d_k>, shape<eight, window3, d_k>>);
static_assert(gives<pooled<ten, window2, five, ten, d_k>, shape<five, window2, d_k>>);
static_assert(gives<unrolled<ten, any_window, eight, ten>, shape<eight, any_window>>);
static_assert(gives<unrolled<ten, window3, seq, ten>, shape<seq, window3>>);
static_assert(gives<unrolled<seq, window3, eight, seq>, shape<eight, window3>>);
static_assert(says<ERROR_R13_window_does_not_fit, unrolled<ten, window3, five, ten>>);
static_assert(says<ERROR_R13_window_does_not_fit, pooled<ten, window2, eight, ten>>);
static_assert(says<ERROR_R13_window_does_not_fit, pooled<ten, window3, eight, ten>>);  // windows that overlap do
static_assert(says<ERROR_R18_slice_of_a_static_extent_names_its_result, unrolled<ten, window3, ten, ten>>);
static_assert(says<ERROR_R18_slice_of_a_static_extent_names_its_result, pooled<ten, window2, ten, ten>>);
static_assert(says<ERROR_R13_needs_ordered_positions, unrolled<batch, window3, batch, batch, seq>>);
static_assert(says<ERROR_R13_needs_ordered_positions, pooled<d_ff, window3, d_ff, seq, d_ff>>);
static_assert(
    says<ERROR_R19_packed_positions_need_their_documents, unrolled<packed_seq, window3, packed_seq, packed_seq>>);
static_assert(
    says<ERROR_R19_packed_positions_need_their_documents, pooled<packed_seq, window3, packed_seq, packed_seq>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents,
                   unrolled<packed_seq, window3, packed_seq, packed_seq, masked_for<packed_seq>>> ||
              says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction,
                   unrolled<packed_seq, window3, packed_seq, packed_seq, masked_for<packed_seq>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, unrolled<seq, window3, seq, seq, window3>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, unrolled<ten, window3, eight, ten, eight>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, unrolled<seq, window3, seq, key>>);
static_assert(
    says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, unrolled<seq, window3, seq, seq, masked_for<seq>>>);
static_assert(
    says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, pooled<seq, window3, seq, seq, masked_for<seq>>>);
// What sums to one does so no more; the mark follows the name.
static_assert(gives<unrolled<ten, window3, eight, ten, normalised<ten>>, shape<eight, window3, weighted<eight>>>);
static_assert(gives<pooled<ten, window2, five, ten, normalised<ten>>, shape<five, window2, weighted<five>>>);

// --- skew ---

template <class Q, class R, class K, class... Dims>
using skewed = rule::skew<Q, R, K, shape<Dims...>>;
static_assert(gives<skewed<seq, distance, key, heads, seq, distance, raw<d_k>>, shape<heads, seq, key, raw<d_k>>>);
static_assert(gives<skewed<seq, distance, key, seq, distance, normalised<distance>>, shape<seq, key, weighted<key>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, skewed<seq, distance, key, seq, src>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, skewed<seq, distance, key, src, distance>>);
static_assert(says<ERROR_R13_needs_ordered_positions, skewed<seq, vocab, key, seq, vocab>>);
static_assert(says<ERROR_R13_needs_ordered_positions, skewed<heads, distance, more_heads, heads, distance>>);
static_assert(
    says<ERROR_R7_query_and_key_positions_are_related_or_have_origins, skewed<seq, distance, src, seq, distance>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, skewed<seq, distance, key, seq, distance, key>>);

// --- top_k ---

template <class D, class Best, class... Dims>
using chosen = rule::top_k<D, Best, shape<Dims...>>;
static_assert(gives<chosen<vocab, best, batch, vocab>, shape<batch, best>>);
static_assert(gives<chosen<vocab, best, vocab, normalised<vocab>>, shape<best, weighted<best>>>);
static_assert(gives<chosen<vocab, any_best, vocab>, shape<any_best>>);
static_assert(gives<chosen<any_best, best, any_best>, shape<best>>);
static_assert(says<ERROR_R18_more_elements_than_the_dimension_has, chosen<vocab, too_many, vocab>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice, chosen<d_k, best, d_k>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice, chosen<vocab, d_v, vocab>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, chosen<vocab, best, batch>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, chosen<vocab, best, vocab, best>>);
static_assert(says<ERROR_R7_mask_does_not_serve_this_dimension, chosen<vocab, best, vocab, key, masked_for<key>>>);
static_assert(gives<chosen<vocab, best, vocab, masked_for<vocab>>, shape<best>>);

TEST_CASE("mutation: positions") { CHECK(allowed<turned<seq, rot, seq, rot>>); }

}  // namespace mutation_positions
