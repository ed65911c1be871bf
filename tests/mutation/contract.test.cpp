// tests/mutation/contract.test.cpp -- what tests/mutation/mutate.py found untested in the rules of products.
//
// Each assertion fails when the condition named above it is left out of include/dimwise/shape/rules/contract.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace mutation_contract {

using namespace shape_test;

template <class A, class B, class... D>
using product = rule::contract<list<D...>, list<>, A, B>;
template <class A, class B, class... D>
using scored = rule::scores<list<D...>, A, B>;

// over_features: something is contracted at all. Heads on both sides of an outer product score nothing (R11).
static_assert(gives<rule::outer<shape<seq, heads>, shape<key, more_heads>>, shape<seq, heads, key, more_heads>>);

// is_single_query: no feature and no choice is left, and what the query keeps is parallel (R6).
static_assert(says<ERROR_R6_scores_are_products_of_positions, scored<shape<d_k>, shape<key, d_k, vocab>, d_k>>);
static_assert(says<ERROR_R6_scores_are_products_of_positions, scored<shape<d_k>, shape<key, d_k, d_v>, d_k>>);
static_assert(
    says<ERROR_R6_scores_are_products_of_positions, scored<shape<nothing_special, d_k>, shape<key, d_k>, d_k>>);
static_assert(
    says<ERROR_R6_scores_are_products_of_positions, scored<shape<key, d_k>, shape<nothing_special, d_k>, d_k>>);
static_assert(gives<scored<shape<heads, d_k>, shape<key, d_k>, d_k>, shape<heads, key, score<d_k>>>);

// sums_weights: weights are summed over their own dimension. Mixing their heads meets what is rotated (R9).
static_assert(
    allowed<product<shape<heads, seq, key, normalised<key>>, shape<heads, more_heads, d_k, rotated<d_k, seq>>, heads>>);
static_assert(says<ERROR_R9_values_are_not_rotated,
                   product<shape<heads, seq, key, normalised<key>>, shape<heads, key, d_k, rotated<d_k, seq>>, key>>);

// output_side: out<D> becomes D where one operand has it, not both (R12).
static_assert(
    gives<product<shape<heads, out<heads>, seq>, shape<heads, out<heads>, d_v>, heads>, shape<out<heads>, seq, d_v>>);
static_assert(gives<product<shape<heads, seq>, shape<heads, out<heads>, d_v>, heads>, shape<seq, heads, d_v>>);

// R11: each side has heads that the other lacks; one side alone may.
static_assert(gives<scored<shape<seq, d_k>, shape<key, heads, d_k>, d_k>, shape<seq, key, heads, score<d_k>>>);
static_assert(gives<scored<shape<seq, heads, d_k>, shape<key, d_k>, d_k>, shape<seq, heads, key, score<d_k>>>);
static_assert(
    says<ERROR_R11_every_head_against_every_head, scored<shape<seq, heads, d_k>, shape<key, more_heads, d_k>, d_k>>);
static_assert(says<ERROR_R11_every_head_against_every_head,
                   product<shape<heads, seq, key, normalised<key>>, shape<key, more_heads, d_v>, key>>);
static_assert(says<ERROR_R11_every_head_against_every_head,
                   product<shape<key, more_heads, d_v>, shape<heads, seq, key, normalised<key>>, key>>);

// R9: of a sum, the rotated part counts.
struct rot : feature_dim<4> {};
struct pass : feature_dim<8> {};
using half = summed<rot, pass>;
static_assert(
    says<ERROR_R9_only_one_operand_is_rotated, scored<shape<seq, half, rotated<rot, seq>>, shape<key, half>, half>>);
static_assert(gives<scored<shape<seq, half, rotated<rot, seq>>, shape<key, half, rotated<rot, seq>>, half>,
                    shape<seq, key, score<half>>>);

// is_mixture: distributions, mixed by weights of what is contracted, are distributions (R5). Nothing else is a mixture.
using A1 = shape<heads, key, src, normalised<src>>;
using A2 = shape<heads, seq, key, normalised<key>>;
static_assert(gives<product<A2, A1, key>, shape<heads, seq, src, normalised<src>>>);
static_assert(gives<product<A1, A2, key>, shape<heads, src, seq, normalised<src>>>);
static_assert(gives<product<shape<experts, normalised<experts>>, shape<experts, vocab, normalised<vocab>>, experts>,
                    shape<vocab, normalised<vocab>>>);
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension, product<shape<heads, seq, key>, A1, key>>);
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension,
                   product<shape<heads, seq, key, normalised<seq>>, A1, key>>);
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension,
                   product<A2, shape<heads, key, src, weighted<src>>, key>>);
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension, product<A2, shape<heads, seq, d_v>, seq>>);
static_assert(gives<product<A2, shape<heads, key, vocab, experts, normalised<vocab>, weighted<experts>>, key>,
                    shape<heads, seq, vocab, experts, normalised<vocab>, weighted<experts>>>);
static_assert(gives<product<shape<seq, key, normalised<key>>, shape<src, key, normalised<key>>, key>, shape<seq, src>>);
static_assert(gives<product<A2, shape<heads, key, d_v>, key>, shape<heads, seq, d_v>>);
static_assert(gives<product<A2, shape<heads, more_heads>, heads>, shape<seq, key, more_heads>>);

// weighted: what else is contracted leaves it to be summed over its own dimension, and over no other (R5).
using weighted_values = shape<seq, key, d_k, weighted<key>>;
static_assert(gives<product<weighted_values, shape<d_k, d_model>, d_k>, shape<seq, key, d_model, weighted<key>>>);
static_assert(gives<product<shape<heads, seq, key, weighted<key>>, shape<heads, more_heads>, heads>,
                    shape<seq, key, more_heads, weighted<key>>>);
static_assert(
    gives<product<shape<heads, seq, key, weighted<key>>, shape<heads, key, d_v>, key>, shape<heads, seq, d_v>>);
static_assert(
    says<ERROR_R5_weights_are_contracted_over_their_own_dimension, product<weighted_values, shape<seq, batch>, seq>>);

// Weights over several dimensions are contracted over all of them (R5); other marks name dimensions of their own.
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension,
                   product<shape<seq, key, normalised<key, seq>>, shape<key, d_v>, key>>);
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension,
                   product<shape<seq, key, weighted<key, seq>>, shape<key, d_v>, key>>);
static_assert(gives<product<shape<seq, key, normalised<key, seq>>, shape<seq, key, d_v>, seq, key>, shape<d_v>>);
static_assert(gives<product<shape<seq, key, weighted<key, seq>>, shape<seq, key, d_v>, seq, key>, shape<d_v>>);
static_assert(says<ERROR_R6_scores_are_contracted_only_after_softmax,
                   product<shape<key, normalised<key>, score<d_k, key>>, shape<key, d_v>, key>>);
// Alternatives are not summed beside weights of positions, unless they are parallel, as experts are.
static_assert(says<ERROR_R5_weights_are_contracted_over_their_own_dimension,
                   product<shape<seq, vocab, normalised<seq>>, shape<vocab, d_model>, vocab>>);
static_assert(
    gives<product<shape<seq, experts, normalised<seq>>, shape<experts, d_model>, experts>, shape<seq, d_model>>);
static_assert(gives<product<shape<seq, vocab, normalised<vocab>>, shape<vocab, d_model>, vocab>, shape<seq, d_model>>);

// R10: what stands before the keys stands before the values, whichever side lacks it.
struct before : position_dim<3> {};
using grown = summed<before, key>;
using over_grown = shape<seq, grown, normalised<grown>>;
using over_keys = shape<seq, key, normalised<key>>;
static_assert(
    std::is_same_v<product<over_grown, shape<key, d_v>, grown>,
                   ERROR_R10_keys_and_values_grow_together<op::contract, over<about<grown, run_time>>,
                                                           lhs<seq, grown, normalised<grown>>, rhs<key, d_v>>>);
static_assert(says<ERROR_R10_keys_and_values_grow_together, product<shape<before, d_v>, over_grown, grown>>);
static_assert(says<ERROR_R10_keys_and_values_grow_together, product<over_grown, shape<key, d_v>, key>>);
static_assert(says<ERROR_R10_keys_and_values_grow_together, product<over_keys, shape<grown, d_v>, key>>);
static_assert(says<ERROR_R10_keys_and_values_grow_together, product<over_keys, shape<grown, d_v>, grown>>);
static_assert(says<ERROR_R3_values_are_at_other_positions_than_the_weights,
                   product<over_grown, shape<seq, d_v>, grown>>);  // no part of it
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both,
                   product<shape<seq, grown>, shape<key, d_v>, grown>>);  // no weights
struct words : choice_dim<5> {};
struct names : choice_dim<3> {};
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both,
                   product<shape<seq, summed<words, names>, normalised<summed<words, names>>>, shape<words, d_v>,
                           summed<words, names>>>);  // no keys, no values
struct half_a : feature_dim<2> {};
struct half_b : feature_dim<2> {};
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both,
                   product<shape<seq, summed<half_a, half_b>>, shape<half_a, d_v>, summed<half_a, half_b>>>);

TEST_CASE("mutation: products") { CHECK(allowed<scored<shape<seq, d_k>, shape<key, heads, d_k>, d_k>>); }

}  // namespace mutation_contract
