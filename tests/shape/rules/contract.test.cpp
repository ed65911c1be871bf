// tests/shape/rules/contract.test.cpp -- the rules of products, each condition in both directions.
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace shape_test {
namespace {

template <class A, class B, class... D>
using product = rule::contract<list<D...>, list<>, A, B>;
template <class A, class B, class... D>
using scored = rule::scores<list<D...>, A, B>;

using X = shape<batch, seq, d_model>;
using Q = shape<batch, seq, heads, d_k>;
using K = shape<batch, key, heads, d_k>;
using V = shape<batch, key, heads, d_v>;
using S = shape<batch, heads, seq, key, score<d_k>>;
using A = shape<batch, heads, seq, key, normalised<key>>;

// The result has the shared dimensions as in a, then the free ones of a, then those of b.
static_assert(gives<product<X, shape<d_model, heads, d_v>, d_model>, shape<batch, seq, heads, d_v>>);
static_assert(
    gives<product<shape<seq, heads, batch, d_k>, shape<batch, heads, d_k, d_v>, d_k>, shape<heads, batch, seq, d_v>>);
static_assert(gives<product<shape<batch, heads, d_v>, shape<heads, d_v, d_model>, heads, d_v>, shape<batch, d_model>>);
static_assert(gives<product<shape<heads, d_v>, shape<heads, d_v>, heads, d_v>, shape<>>);

// R1: both operands have what is contracted; the facts name operation, dimension, extent, and both shapes.
static_assert(std::is_same_v<product<Q, K, key>, ERROR_R1_contracted_dimension_is_not_in_both<
                                                     op::contract, over<about<key, run_time>>,
                                                     lhs<batch, seq, heads, d_k>, rhs<batch, key, heads, d_k>>>);
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both, product<K, Q, key>>);
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both, product<Q, K, vocab>>);
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both, product<X, shape<d_model, d_ff>, d_model, d_ff>>);
static_assert(
    std::is_same_v<product<X, shape<d_model, d_ff>, d_ff>,
                   ERROR_R1_contracted_dimension_is_not_in_both<op::contract, over<about<d_ff, run_time>>,
                                                                lhs<batch, seq, d_model>, rhs<d_model, d_ff>>>);

// R2: what both keep is parallel, or named by `along`.
static_assert(says<ERROR_R2_shared_dimension_is_not_parallel, product<Q, Q, d_k>>);
static_assert(says<ERROR_R2_shared_dimension_is_not_parallel, product<Q, K, heads>>);
static_assert(says<ERROR_R2_shared_dimension_is_not_parallel, product<shape<seq, d_k, vocab>, shape<d_k, vocab>, d_k>>);
static_assert(std::is_same_v<product<Q, Q, d_k>, ERROR_R2_shared_dimension_is_not_parallel<
                                                     op::contract, over<about<seq, run_time>>,
                                                     lhs<batch, seq, heads, d_k>, rhs<batch, seq, heads, d_k>>>);
static_assert(allowed<product<Q, K, d_k>>);
static_assert(gives<rule::contract<list<d_k>, list<seq>, Q, Q>, shape<batch, seq, heads>>);
static_assert(says<ERROR_R2_shared_dimension_is_not_parallel,
                   rule::contract<list<d_k>, list<seq>, shape<seq, key, d_k>, shape<seq, key, d_k>>>);
static_assert(
    gives<rule::contract<list<d_k>, list<seq, key>, shape<seq, key, d_k>, shape<seq, key, d_k>>, shape<seq, key>>);
// A composite counts as its factors.
static_assert(
    says<ERROR_R2_shared_dimension_is_not_parallel, product<shape<merged<seq, heads>, d_k>, shape<seq, d_k>, d_k>>);
// What `along` names is shared.
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both, rule::contract<list<d_k>, list<key>, Q, K>>);
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both, rule::contract<list<d_k>, list<vocab>, Q, K>>);
static_assert(gives<rule::contract<list<d_k>, list<heads>, Q, K>, shape<batch, heads, seq, key, raw<d_k>>>);

// R3: weights over positions do not meet values at other positions.
static_assert(
    says<ERROR_R3_values_are_at_other_positions_than_the_weights, product<A, shape<batch, seq, heads, d_v>, key>>);
static_assert(
    says<ERROR_R3_values_are_at_other_positions_than_the_weights, product<shape<batch, seq, heads, d_v>, A, key>>);
static_assert(
    says<ERROR_R3_values_are_at_other_positions_than_the_weights, product<A, shape<merged<seq, heads>, d_v>, key>>);
static_assert(allowed<product<A, V, key>>);
//     Without positions, without weights, or with weights over no positions, it is just missing.
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both, product<A, shape<batch, heads, d_v>, key>>);
static_assert(
    says<ERROR_R1_contracted_dimension_is_not_in_both, product<shape<heads, seq, key>, shape<src, d_v>, key>>);
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both,
                   product<shape<seq, vocab, normalised<vocab>>, shape<src, d_v>, vocab>>);

// R4: a dimension that hides in a composite, or a composite whose factors are there, is said to.
static_assert(says<ERROR_R4_composite_has_other_factors_or_order,
                   product<shape<seq, merged<heads, d_v>>, shape<heads, d_v, d_model>, heads, d_v>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order,
                   product<shape<seq, heads, d_v>, shape<merged<heads, d_v>, d_model>, merged<heads, d_v>>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order,
                   product<shape<seq, merged<d_v, heads>>, shape<merged<heads, d_v>, d_model>, merged<heads, d_v>>>);
static_assert(gives<product<shape<seq, merged<heads, d_v>>, shape<merged<heads, d_v>, d_model>, merged<heads, d_v>>,
                    shape<seq, d_model>>);

// R5: weights are contracted over their own dimension, never over another position.
static_assert(gives<product<A, V, key>, shape<batch, heads, seq, d_v>>);
static_assert(gives<product<V, A, key>, shape<batch, heads, d_v, seq>>);
static_assert(
    says<ERROR_R5_weights_are_contracted_over_their_own_dimension, product<A, shape<batch, seq, heads, d_v>, seq>>);
static_assert(
    says<ERROR_R5_weights_are_contracted_over_their_own_dimension, product<shape<batch, seq, heads, d_v>, A, seq>>);
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension,
                   product<A, shape<batch, seq, key, heads, d_v>, seq, key>>);
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension,
                   product<shape<heads, seq, key, normalised<seq>>, shape<heads, key, d_v>, key>>);
// A mixture of distributions is a distribution: attention rollout, pointer networks; both operands sum to one over
// their own.
using mid = dimwise::prime<key>;
static_assert(gives<product<shape<seq, mid, normalised<mid>>, shape<mid, key, normalised<key>>, mid>,
                    shape<seq, key, normalised<key>>>);
static_assert(gives<product<shape<heads, seq, key, normalised<key>>, shape<heads, key, vocab, normalised<vocab>>, key>,
                    shape<heads, seq, vocab, normalised<vocab>>>);
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension,
                   product<shape<seq, key, normalised<key>>, shape<seq, key, normalised<key>>, seq>>);
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension,
                   product<shape<seq, key, normalised<key>>, shape<seq, d_v, weighted<d_v>>, seq>>);
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension,
                   product<shape<heads, seq, key, weighted<seq>>, shape<heads, key, d_v>, key>>);
//     Nor beside an operand that keeps it.
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension, product<A, V, heads>>);
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension, product<V, A, heads>>);
//     Mixing heads, here over two of them, ends the mark.
static_assert(gives<product<A, shape<heads, more_heads>, heads>, shape<batch, seq, key, more_heads>>);
//     Products with weights are summed over their dimension only.
static_assert(gives<product<shape<seq, key, weighted<key>>, shape<key, d_v>, key>, shape<seq, d_v>>);
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension,
                   product<shape<seq, key, weighted<key>>, shape<seq, d_v>, seq>>);
//     Probabilities of alternatives, too.
static_assert(gives<product<shape<seq, vocab, normalised<vocab>>, shape<vocab, d_model>, vocab>, shape<seq, d_model>>);

// R6: a product over a feature that leaves free positions of each operand, and no feature or choice, is raw.
static_assert(gives<product<Q, K, d_k>, shape<batch, heads, seq, key, raw<d_k>>>);
static_assert(gives<product<shape<seq, d_k, d_v>, shape<key, d_k, d_v>, d_k, d_v>, shape<seq, key, raw<d_k, d_v>>>);
//     What is contracted beside the feature does not matter: heads, batch, groups, alternatives, other positions.
static_assert(
    gives<product<shape<seq, heads, d_k>, shape<key, heads, d_k>, heads, d_k>, shape<seq, key, raw<heads, d_k>>>);
static_assert(gives<product<Q, K, batch, d_k>, shape<heads, seq, key, raw<batch, d_k>>>);
static_assert(
    gives<product<shape<seq, vocab, d_k>, shape<key, vocab, d_k>, vocab, d_k>, shape<seq, key, raw<vocab, d_k>>>);
static_assert(gives<product<shape<seq, src, d_k>, shape<key, src, d_k>, src, d_k>, shape<seq, key, raw<src, d_k>>>);
static_assert(gives<product<shape<batch, seq, heads, d_v>, shape<heads, d_v, d_model>, heads, d_v>,
                    shape<batch, seq, d_model>>);  // W_O leaves a feature
static_assert(
    gives<product<X, shape<batch, seq, d_ff>, batch, seq>, shape<d_model, d_ff>>);  // so do gradients of weights
//     Scores are over features alone.
static_assert(says<ERROR_R6_scores_are_products_of_positions,
                   rule::scores<list<heads, d_k>, shape<seq, heads, d_k>, shape<key, heads, d_k>>>);
static_assert(gives<product<shape<seq, d_model>, shape<d_model>, d_model>, shape<seq>>);     // no positions of b
static_assert(gives<product<shape<d_model>, shape<seq, d_model>, d_model>, shape<seq>>);     // nor of a
static_assert(gives<product<X, shape<vocab, d_model>, d_model>, shape<batch, seq, vocab>>);  // leaves a choice
static_assert(gives<product<X, shape<key, d_model, d_ff>, d_model>, shape<batch, seq, key, d_ff>>);  // leaves a feature
static_assert(
    gives<product<X, shape<key, d_model, merged<heads, d_v>>, d_model>, shape<batch, seq, key, merged<heads, d_v>>>);
static_assert(gives<product<shape<seq, d_v>, shape<seq, key>, seq>, shape<d_v, key>>);  // over positions
//     Failing positions, batches that are not shared.
static_assert(gives<product<shape<batch, d_k>, shape<layers, d_k>, d_k>, shape<batch, layers, raw<d_k>>>);
// What both operands share counts for neither side: beams and answers are parallel and a choice at once.
static_assert(gives<product<shape<batch, experts, seq, heads, d_k>, shape<batch, experts, key, heads, d_k>, d_k>,
                    shape<batch, experts, heads, seq, key, raw<d_k>>>);
static_assert(
    gives<scored<shape<experts, seq, d_k>, shape<experts, key, d_k>, d_k>, shape<experts, seq, key, score<d_k>>>);
static_assert(gives<scored<shape<experts, d_k>, shape<experts, key, d_k>, d_k>, shape<experts, key, score<d_k>>>);
static_assert(gives<rule::contract<list<d_k>, list<vocab>, shape<seq, vocab, d_k>, shape<key, vocab, d_k>>,
                    shape<vocab, seq, key, raw<d_k>>>);
static_assert(gives<rule::contract<list<d_k>, list<d_v>, shape<seq, d_v, d_k>, shape<key, d_v, d_k>>,
                    shape<d_v, seq, key, raw<d_k>>>);
// Beside positions of their operand they are parallel; without, as experts of a router, they are alternatives.
static_assert(gives<product<shape<experts, seq, d_k>, shape<key, d_k>, d_k>, shape<experts, seq, key, raw<d_k>>>);
static_assert(gives<product<shape<key, d_k>, shape<experts, seq, d_k>, d_k>, shape<key, experts, seq, raw<d_k>>>);
static_assert(gives<product<shape<experts, d_k, indexed<seq>>, shape<key, d_k>, d_k>, shape<experts, key, raw<d_k>>>);
static_assert(gives<product<shape<batch, seq, d_model>, shape<d_model, experts>, d_model>, shape<batch, seq, experts>>);
static_assert(gives<product<shape<d_model, experts>, shape<batch, seq, d_model>, d_model>, shape<experts, batch, seq>>);
static_assert(gives<product<shape<seq, vocab, d_k>, shape<key, d_k>, d_k>, shape<seq, vocab, key>>);
static_assert(gives<product<shape<key, d_k>, shape<seq, vocab, d_k>, d_k>, shape<key, seq, vocab>>);
static_assert(gives<product<shape<batch, d_k>, shape<batch, d_k>, d_k>, shape<batch>>);
static_assert(gives<product<shape<heads, d_k>, shape<group_of, d_k>, d_k>, shape<heads, group_of>>);
//     Positions that `at` took away count.
static_assert(
    gives<product<shape<heads, d_k, indexed<seq>>, shape<key, heads, d_k>, d_k>, shape<heads, key, raw<d_k>>>);
//     Neither raw products nor scores are contracted over positions; heads may be mixed, and the mark stays.
static_assert(says<ERROR_R6_scores_are_contracted_only_after_softmax, product<S, V, key>>);
static_assert(says<ERROR_R6_scores_are_contracted_only_after_softmax, product<V, S, key>>);
static_assert(
    says<ERROR_R6_scores_are_contracted_only_after_softmax, product<shape<seq, key, raw<d_k>>, shape<key, d_v>, key>>);
static_assert(
    says<ERROR_R6_scores_are_contracted_only_after_softmax, product<shape<key, d_v>, shape<seq, key, raw<d_k>>, key>>);
static_assert(gives<product<S, shape<heads, more_heads>, heads>, shape<batch, seq, key, more_heads, score<d_k>>>);
static_assert(gives<product<shape<heads, seq, key, raw<d_k>>, shape<heads, more_heads>, heads>,
                    shape<seq, key, more_heads, raw<d_k>>>);
static_assert(allowed<product<shape<seq, key>, V, key>>);

// R6: `scores` gives scores, and takes products of positions only.
static_assert(gives<scored<Q, K, d_k>, shape<batch, heads, seq, key, score<d_k>>>);
static_assert(gives<scored<shape<d_k>, shape<key, d_k>, d_k>, shape<key, score<d_k>>>);  // one query
static_assert(gives<scored<shape<heads, d_k>, shape<key, heads, d_k>, d_k>, shape<heads, key, score<d_k>>>);
static_assert(gives<scored<shape<key, heads, d_k>, shape<heads, d_k>, d_k>, shape<heads, key, score<d_k>>>);
static_assert(std::is_same_v<scored<X, shape<vocab, d_model>, d_model>,
                             ERROR_R6_scores_are_products_of_positions<op::scores, over<about<d_model, extent<12>>>,
                                                                       lhs<batch, seq, d_model>, rhs<vocab, d_model>>>);
static_assert(says<ERROR_R6_scores_are_products_of_positions, scored<X, shape<d_model, heads, d_k>, d_model>>);
static_assert(says<ERROR_R6_scores_are_products_of_positions, scored<Q, K, heads, d_k>>);
static_assert(
    says<ERROR_R6_scores_are_products_of_positions, scored<shape<heads, d_k>, shape<key, heads, d_k>, heads, d_k>>);
static_assert(says<ERROR_R6_scores_are_products_of_positions, scored<shape<d_k>, shape<d_k>, d_k>>);
//     R2: of pairs there is one product each.
static_assert(std::is_same_v<scored<shape<batch, d_k>, shape<d_k, batch>, d_k>,
                             ERROR_R2_shared_dimension_pairs_elements_one_to_one<
                                 op::scores, over<about<batch, run_time>>, lhs<batch, d_k>, rhs<d_k, batch>>>);
static_assert(allowed<scored<shape<batch, d_k>, shape<d_k>, d_k>> &&
              allowed<scored<shape<d_k>, shape<batch, d_k>, d_k>>);

// R16: queries, keys and values are told apart by their features.
static_assert(std::is_same_v<scored<Q, V, d_k>, ERROR_R16_query_key_and_value_are_told_apart_by_dimensions<
                                                    op::scores, over<about<d_k, extent<4>>>,
                                                    lhs<batch, seq, heads, d_k>, rhs<batch, key, heads, d_v>>>);
static_assert(says<ERROR_R16_query_key_and_value_are_told_apart_by_dimensions, scored<V, Q, d_k>>);
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both,
                   scored<Q, shape<batch, key, heads>, d_k>>);                           // no features at all
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both, scored<Q, K, vocab>>);  // not over features
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both, product<Q, V, d_k>>);   // no scores
static_assert(says<ERROR_R2_shared_dimension_is_not_parallel, scored<Q, Q, d_k>>);

// R7: what is masked is not contracted.
static_assert(
    says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, product<shape<seq, key, masked_for<key>>, V, key>>);
static_assert(
    says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, product<V, shape<seq, key, masked_for<key>>, key>>);
static_assert(says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction,
                   scored<Q, shape<batch, key, heads, d_k, masked_for<key>>, d_k>>);

// R9: rotated features meet features rotated likewise; the mark ends with its feature.
using Q_rotated = shape<batch, seq, heads, d_k, rotated<d_k, seq>>;
using K_rotated = shape<batch, key, heads, d_k, rotated<d_k, seq>>;
static_assert(gives<product<Q_rotated, K_rotated, d_k>, shape<batch, heads, seq, key, raw<d_k>>>);
static_assert(says<ERROR_R9_only_one_operand_is_rotated, product<Q_rotated, K, d_k>>);
static_assert(says<ERROR_R9_only_one_operand_is_rotated, product<Q, K_rotated, d_k>>);
static_assert(says<ERROR_R9_only_one_operand_is_rotated, scored<Q_rotated, K, d_k>>);
static_assert(
    gives<product<Q_rotated, shape<heads, more_heads>, heads>, shape<batch, seq, d_k, more_heads, rotated<d_k, seq>>>);
//     Values are not rotated.
static_assert(says<ERROR_R9_values_are_not_rotated, product<A, shape<batch, key, heads, d_v, rotated<d_v, seq>>, key>>);
static_assert(says<ERROR_R9_values_are_not_rotated, product<shape<batch, key, heads, d_v, rotated<d_v, seq>>, A, key>>);
static_assert(allowed<product<shape<seq, key>, shape<key, d_v, rotated<d_v, seq>>, key>>);  // no weights, no values
static_assert(allowed<product<A, shape<heads, d_k, rotated<d_k, seq>>, heads>>);  // not summed by their weights

// R11: scores, and weights with values, where each operand has heads that the other lacks.
static_assert(
    says<ERROR_R11_every_head_against_every_head, product<shape<seq, heads, d_k>, shape<key, more_heads, d_k>, d_k>>);
static_assert(
    says<ERROR_R11_every_head_against_every_head, scored<shape<seq, heads, d_k>, shape<key, group_of, d_k>, d_k>>);
static_assert(says<ERROR_R11_every_head_against_every_head, scored<shape<heads, d_k>, shape<key, group_of, d_k>, d_k>>);
static_assert(says<ERROR_R11_every_head_against_every_head, product<A, shape<batch, key, more_heads, d_v>, key>>);
static_assert(says<ERROR_R11_every_head_against_every_head, product<shape<batch, key, more_heads, d_v>, A, key>>);
static_assert(allowed<product<A, shape<batch, key, d_v>, key>>);                       // one head of values
static_assert(allowed<product<shape<heads, seq, key>, shape<key, more_heads>, key>>);  // no weights
static_assert(gives<scored<shape<seq, heads, group_of, d_k>, shape<key, heads, d_k>, d_k>,
                    shape<heads, seq, group_of, key, score<d_k>>>);
static_assert(gives<scored<shape<seq, heads, d_k>, shape<key, d_k>, d_k>, shape<seq, heads, key, score<d_k>>>);
static_assert(gives<scored<shape<seq, d_k>, shape<key, heads, d_k>, d_k>, shape<seq, key, heads, score<d_k>>>);
static_assert(gives<product<shape<seq, heads, d_k>, shape<d_k, more_heads, d_v>, d_k>,
                    shape<seq, heads, more_heads, d_v>>);  // no scores

// R12: out<D> becomes D where exactly one operand has it, the other has D, and the result would lack D.
static_assert(gives<product<X, shape<d_model, out<d_model>>, d_model>, X>);
static_assert(gives<product<shape<d_model, out<d_model>>, X, d_model>, shape<d_model, batch, seq>>);
static_assert(gives<product<shape<d_ff>, shape<d_ff, out<d_model>>, d_ff>, shape<out<d_model>>>);  // the other lacks D
using joined = merged<heads, d_k>;  // an axis for each factor, where out<joined> has one
static_assert(gives<product<shape<batch, joined>, shape<joined, out<joined>>, joined>, shape<batch, out<joined>>>);
static_assert(gives<product<shape<d_model, d_ff>, shape<d_ff, out<d_model>>, d_ff>,
                    shape<d_model, out<d_model>>>);  // the result has D
static_assert(
    gives<product<shape<heads, out<heads>>, shape<heads, out<heads>>, heads>, shape<out<heads>>>);  // both have it
static_assert(
    says<ERROR_R12_weight_is_applied_the_wrong_way_round, product<X, shape<d_model, out<d_model>>, out<d_model>>>);
static_assert(
    says<ERROR_R12_weight_is_applied_the_wrong_way_round, product<shape<d_model, out<d_model>>, X, out<d_model>>>);
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both,
                   product<shape<seq, d_ff>, shape<d_model, out<d_model>>, out<d_model>>>);
//     A weight sums over heads together with their features: heads that are gone were averaged.
static_assert(says<ERROR_R12_weight_sums_over_heads_that_are_gone,
                   product<shape<batch, d_v>, shape<heads, d_v, d_model>, heads, d_v>>);
static_assert(
    says<ERROR_R1_contracted_dimension_is_not_in_both, product<shape<batch, d_v>, shape<heads, d_v, d_model>, heads>>);
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both,
                   product<shape<batch, heads>, shape<heads, d_v, d_model>, d_v, heads>>);

// R17: a factor that both keep, once by itself and once in a composite, would occur twice.
static_assert(says<ERROR_R17_dimension_occurs_twice, product<shape<heads, d_k>, shape<d_k, merged<heads, d_v>>, d_k>>);
//     Nothing is contracted, or run along, twice.
static_assert(
    std::is_same_v<product<shape<seq, d_k>, shape<key, d_k>, d_k, d_k>,
                   ERROR_R17_dimension_occurs_twice<op::contract, over<about<d_k, extent<4>>, about<d_k, extent<4>>>,
                                                    lhs<seq, d_k>, rhs<key, d_k>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, product<Q, K, heads, d_k, heads>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::scores<list<d_k, d_k>, Q, K>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::contract<list<d_k>, along<seq, seq>, Q, Q>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::contract<list<d_k>, along<seq, d_k>, Q, Q>>);

// R18: what `at` removed does not meet its dimension; it ends in a product with anything else.
static_assert(
    says<ERROR_R18_single_element_meets_its_whole_dimension, product<shape<d_k, indexed<key>>, shape<key, d_k>, d_k>>);
static_assert(
    says<ERROR_R18_single_element_meets_its_whole_dimension, product<shape<key, d_k>, shape<d_k, indexed<key>>, d_k>>);
static_assert(gives<product<shape<d_model, indexed<seq>>, shape<d_model, d_ff>, d_model>, shape<d_ff>>);

// R19: packed positions are summed by weights only, which know the documents.
static_assert(says<ERROR_R19_packed_positions_need_their_documents,
                   product<shape<packed_seq, d_model>, shape<packed_seq, d_ff>, packed_seq>>);
static_assert(
    says<ERROR_R19_packed_positions_need_their_documents,
         product<shape<merged<heads, packed_seq>>, shape<merged<heads, packed_seq>, d_ff>, merged<heads, packed_seq>>>);
static_assert(gives<product<shape<packed_seq, packed_key, normalised<packed_key>>, shape<packed_key, d_v>, packed_key>,
                    shape<packed_seq, d_v>>);
static_assert(gives<product<shape<packed_key, d_v>, shape<packed_seq, packed_key, normalised<packed_key>>, packed_key>,
                    shape<d_v, packed_seq>>);
static_assert(allowed<product<shape<packed_seq, d_model>, shape<d_model, d_ff>, d_model>>);

// `outer` sums over nothing: what both have is parallel, weights become weighted, masked operands are refused.
static_assert(gives<rule::outer<shape<batch, seq>, shape<batch, d_model>>, shape<batch, seq, d_model>>);
static_assert(gives<rule::outer<shape<seq, normalised<seq>>, shape<d_v>>, shape<seq, d_v, weighted<seq>>>);
static_assert(
    gives<rule::outer<shape<seq, weighted<seq>>, shape<d_v, raw<d_k>>>, shape<seq, d_v, raw<d_k>, weighted<seq>>>);
static_assert(gives<rule::outer<shape<d_v, indexed<key>>, shape<seq>>, shape<d_v, seq>>);
static_assert(says<ERROR_R2_shared_dimension_is_not_parallel, rule::outer<X, shape<d_model>>>);
static_assert(
    says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, rule::outer<shape<key, masked_for<key>>, shape<d_v>>>);
static_assert(
    says<ERROR_R18_single_element_meets_its_whole_dimension, rule::outer<shape<d_v, indexed<key>>, shape<key>>>);
static_assert(gives<rule::outer<shape<batch>, shape<layers>>, shape<batch, layers>>);  // over no features: not raw
static_assert(gives<rule::outer<shape<seq, heads>, shape<key, more_heads>>, shape<seq, heads, key, more_heads>>);

TEST_CASE("shape: the rules of contract, scores and outer") {
  CHECK(allowed<product<Q, K, d_k>>);
  CHECK(refused<product<Q, K, key>>);
}

}  // namespace
}  // namespace shape_test
