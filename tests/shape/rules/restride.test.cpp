// tests/shape/rules/restride.test.cpp -- new names, orders, groupings and parts, each condition in both directions.
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace shape_test {
namespace {

using X = shape<batch, seq, d_model>;
using Z = shape<batch, seq, heads, d_v>;

// R3: rename goes between a dimension and its prime or `out`, both ways; marks follow.
static_assert(gives<rule::rename<seq, key, X>, shape<batch, key, d_model>>);
static_assert(gives<rule::rename<key, seq, shape<batch, key>>, shape<batch, seq>>);
static_assert(gives<rule::rename<d_model, out<d_model>, X>, shape<batch, seq, out<d_model>>>);
static_assert(gives<rule::rename<out<d_model>, d_model, shape<out<d_model>>>, shape<d_model>>);
static_assert(gives<rule::rename<key, seq, shape<heads, key, normalised<key>>>, shape<heads, seq, normalised<seq>>>);
static_assert(gives<rule::rename<key, seq, shape<heads, key, masked_for<key>, indexed<batch>>>,
                    shape<heads, seq, masked_for<seq>, indexed<batch>>>);
static_assert(
    std::is_same_v<rule::rename<seq, src, X>, ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out<
                                                  op::rename, over<about<seq, run_time>, about<src, extent<7>>>,
                                                  operand_shape<batch, seq, d_model>>>);
static_assert(
    says<ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out, rule::rename<key, prime<key, 3>, shape<seq>>> ==
    false);
static_assert(
    says<ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out, rule::rename<seq, prime<prime<seq>>, X>>);
static_assert(
    says<ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out, rule::rename<d_k, d_model, shape<d_k>>>);
static_assert(says<ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out, rule::rename<seq, seq, X>>);
//     relabel goes between all, of the same extent where the compiler knows both.
static_assert(gives<rule::relabel<seq, src, X>, shape<batch, src, d_model>>);
static_assert(
    std::is_same_v<rule::relabel<d_model, d_v, X>,
                   ERROR_R3_extents_differ<op::relabel, over<about<d_model, extent<12>>, about<d_v, extent<6>>>,
                                           operand_shape<batch, seq, d_model>>>);
static_assert(says<ERROR_R3_extents_differ, rule::rename<src, prime<src, 9>, shape<src>>>);
static_assert(gives<rule::rename<src, prime<src>, shape<src>>, shape<prime<src>>>);
//     R1, R4: the old name is there. R17: the new one is not.
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::rename<key, seq, X>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::relabel<key, src, X>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order, rule::rename<seq, key, shape<merged<heads, seq>>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::rename<key, seq, shape<seq, key>>>);
static_assert(
    says<ERROR_R17_dimension_occurs_twice, rule::relabel<src, heads, shape<prime<src, 3>, src, merged<heads, d_v>>>> ==
    false);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::relabel<seq, heads, shape<seq, merged<heads, d_v>>>>);

// R1, R17: an order names every dimension once; marks stay.
static_assert(gives<rule::permute<list<d_v, heads, batch, seq>, Z>, shape<d_v, heads, batch, seq>>);
static_assert(gives<rule::permute<list<key, seq>, shape<seq, key, normalised<key>>>, shape<key, seq, normalised<key>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::permute<list<seq, heads, d_v>, Z>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::permute<list<batch, seq, heads, d_k>, Z>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::permute<list<batch, seq, heads, d_v, d_k>, Z>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::permute<list<batch, seq, heads, d_v, seq>, Z>>);

// R4: split takes the composite of these factors in this order, and puts them in its place.
static_assert(gives<rule::split<shape<seq, merged<heads, d_k>, batch>, heads, d_k>, shape<seq, heads, d_k, batch>>);
static_assert(
    std::is_same_v<
        rule::split<shape<seq, merged<heads, d_k>>, d_k, heads>,
        ERROR_R4_composite_has_other_factors_or_order<op::split, over<about<d_k, extent<4>>, about<heads, extent<3>>>,
                                                      operand_shape<seq, merged<heads, d_k>>>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order, rule::split<X, heads, d_k>>);
static_assert(
    says<ERROR_R4_composite_has_other_factors_or_order, rule::split<shape<merged<heads, d_k, d_v>>, heads, d_k>>);
static_assert(gives<rule::split<shape<merged<heads, summed<d_k, d_v>>>, heads, summed<d_k, d_v>>,
                    shape<heads, summed<d_k, d_v>>>);

// R4: merge makes the composite, which stands where its first factor stood; the order of the factors is part of its
// type.
static_assert(gives<rule::merge<Z, heads, d_v>, shape<batch, seq, merged<heads, d_v>>>);
static_assert(gives<rule::merge<Z, d_v, heads>, shape<batch, seq, merged<d_v, heads>>>);
static_assert(gives<rule::merge<shape<heads, seq, d_v>, heads, d_v>, shape<merged<heads, d_v>, seq>>);
static_assert(gives<rule::merge<Z, batch, heads, d_v>, shape<merged<batch, heads, d_v>, seq>>);
static_assert(!std::is_same_v<merged<heads, d_v>, merged<d_v, heads>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::merge<Z, heads, d_k>>);
static_assert(
    says<ERROR_R4_composite_has_other_factors_or_order, rule::merge<shape<seq, merged<heads, d_v>>, seq, heads>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::merge<Z, heads, heads>>);

// R14: a part is taken from the sum that has it, and puts its name there.
using fused = summed<d_k, d_v>;
static_assert(gives<rule::part<d_v, shape<seq, fused, batch>>, shape<seq, d_v, batch>>);
static_assert(
    gives<rule::part<merged<heads, d_k>, shape<seq, summed<merged<heads, d_k>, d_v>>>, shape<seq, merged<heads, d_k>>>);
static_assert(std::is_same_v<rule::part<d_model, shape<seq, fused>>,
                             ERROR_R14_part_is_taken_from_a_summed_dimension<op::part, over<about<d_model, extent<12>>>,
                                                                             operand_shape<seq, summed<d_k, d_v>>>>);
static_assert(says<ERROR_R14_part_is_taken_from_a_summed_dimension, rule::part<d_k, shape<merged<heads, d_k>>>>);
static_assert(says<ERROR_R14_part_is_taken_from_a_summed_dimension, rule::part<d_k, shape<merged<heads, fused>>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::part<d_k, shape<d_k, fused>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice,
                   rule::part<merged<heads, d_k>, shape<heads, summed<merged<heads, d_k>, d_v>>>>);

//     A part of weights is a product with them, as a slice is; other marks over the sum are the part's, too.
using seen = summed<src, key>;
static_assert(gives<rule::part<key, shape<seq, seen, normalised<seen>>>, shape<seq, key, weighted<key>>>);
static_assert(gives<rule::part<src, shape<seq, seen, weighted<seen>>>, shape<seq, src, weighted<src>>>);
static_assert(gives<rule::part<key, shape<seq, seen, score<d_k>, masked_for<seen>>>,
                    shape<seq, key, score<d_k>, masked_for<key>>>);
static_assert(gives<rule::part<key, shape<seq, seen, normalised<seq>>>, shape<seq, key, normalised<seq>>>);
//     What is rotated is rotated, and what is not, is not.
static_assert(gives<rule::part<d_k, shape<seq, fused, rotated<d_k, seq>>>, shape<seq, d_k, rotated<d_k, seq>>>);
static_assert(gives<rule::part<d_v, shape<seq, fused, rotated<d_k, seq>>>, shape<seq, d_v>>);
static_assert(gives<rule::part<d_v, shape<d_k, fused, rotated<d_k, seq>>>, shape<d_k, d_v, rotated<d_k, seq>>>);

// The diagonal is spelled, of two dimensions of one extent, and keeps the first.
static_assert(gives<rule::diagonal<seq, key, shape<heads, seq, key>>, shape<heads, seq>>);
static_assert(gives<rule::diagonal<key, seq, shape<heads, seq, key>>, shape<heads, key>>);
static_assert(gives<rule::diagonal<seq, key, shape<seq, key, normalised<key>>>, shape<seq>>);
static_assert(
    gives<rule::diagonal<seq, key, shape<heads, seq, key, normalised<heads>>>, shape<heads, seq, normalised<heads>>>);
static_assert(gives<rule::diagonal<seq, key, shape<heads, seq, key, score<d_k>>>, shape<heads, seq, score<d_k>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::diagonal<seq, key, X>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::diagonal<key, seq, X>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::diagonal<seq, seq, X>>);
static_assert(says<ERROR_R3_extents_differ, rule::diagonal<d_model, d_v, shape<d_model, d_v>>>);
static_assert(gives<rule::diagonal<seq, src, shape<seq, src>>, shape<seq>>);

// R8, R17: broadcast adds a dimension that is absent, in front; broadcast_like adds what the other has, behind.
static_assert(gives<rule::broadcast<batch, shape<seq>>, shape<batch, seq>>);
static_assert(gives<rule::broadcast<seq, shape<d_k, indexed<seq>>>, shape<seq, d_k>>);
static_assert(gives<rule::broadcast<seq, shape<d_k, indexed<key>>>, shape<seq, d_k, indexed<key>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::broadcast<batch, X>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::broadcast<heads, shape<merged<heads, d_v>>>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order, rule::broadcast<merged<heads, d_k>, shape<seq>>>);
static_assert(gives<rule::broadcast_like<shape<seq>, shape<key, seq, heads>>, shape<seq, key, heads>>);
static_assert(gives<rule::broadcast_like<shape<d_k, indexed<seq>>, shape<seq, d_k>>, shape<d_k, seq>>);
static_assert(
    says<ERROR_R4_composite_has_other_factors_or_order, rule::broadcast_like<shape<merged<heads, d_v>>, shape<heads>>>);

TEST_CASE("shape: the rules of names, orders, groupings and parts") {
  CHECK(allowed<rule::rename<seq, key, X>>);
  CHECK(refused<rule::rename<seq, src, X>>);
}

}  // namespace
}  // namespace shape_test
