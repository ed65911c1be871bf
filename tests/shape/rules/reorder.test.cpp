// tests/shape/rules/reorder.test.cpp -- roll, flip, sort, argsort, one_hot and scatter_add, each condition in both
// directions. SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"
#include <dimwise/shape/rules/reorder.hpp>

#include <doctest/doctest.h>

namespace shape_test {
namespace {

using X = shape<batch, seq, d_model>;
using M = merged<heads, d_v>;

// Another order keeps the shape, composites and marks included.
static_assert(gives<rule::roll<seq, X>, X>);
static_assert(gives<rule::flip<batch, X>, X>);
static_assert(gives<rule::roll<M, shape<seq, M>>, shape<seq, M>>);
static_assert(gives<rule::roll<summed<one, seq>, shape<summed<one, seq>, d_k>>, shape<summed<one, seq>, d_k>>);
static_assert(gives<rule::roll<key, shape<seq, key, normalised<key>>>, shape<seq, key, normalised<key>>>);
static_assert(gives<rule::roll<key, shape<seq, key, masked_for<key>>>, shape<seq, key, masked_for<key>>>);
static_assert(gives<rule::roll<key, shape<key, d_k, rotated<d_k, seq>>>, shape<key, d_k, rotated<d_k, seq>>>);
static_assert(
    gives<rule::flip<seq, shape<seq, key, raw<d_k>, indexed<heads>>>, shape<seq, key, raw<d_k>, indexed<heads>>>);
static_assert(
    std::is_same_v<rule::roll<key, X>, ERROR_R1_dimension_is_not_in_the_operand<op::roll, over<about<key, run_time>>,
                                                                                operand_shape<batch, seq, d_model>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::flip<key, X>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order, rule::roll<d_v, shape<seq, M>>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents, rule::roll<packed_seq, shape<packed_seq, d_k>>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents,
                   rule::flip<merged<heads, packed_seq>, shape<merged<heads, packed_seq>>>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents,
                   rule::roll<summed<one, packed_seq>, shape<summed<one, packed_seq>>>>);
static_assert(gives<rule::roll<d_k, shape<packed_seq, d_k>>, shape<packed_seq, d_k>>);

// sort and argsort: any dimension, composites included; not what a mask hides, nor across documents.
static_assert(gives<rule::sort<seq, X>, X> && gives<rule::sort<batch, X>, X> && gives<rule::sort<d_model, X>, X>);
static_assert(gives<rule::argsort<seq, X>, X>);
static_assert(gives<rule::argsort<M, shape<seq, M>>, shape<seq, M>>);
static_assert(gives<rule::sort<vocab, shape<seq, vocab, normalised<vocab>>>, shape<seq, vocab, weighted<vocab>>>);
static_assert(gives<rule::argsort<vocab, shape<seq, vocab, normalised<vocab>>>, shape<seq, vocab>>);
static_assert(
    std::is_same_v<rule::sort<key, X>, ERROR_R1_dimension_is_not_in_the_operand<op::sort, over<about<key, run_time>>,
                                                                                operand_shape<batch, seq, d_model>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::argsort<key, X>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order, rule::sort<d_v, shape<seq, M>>>);
static_assert(
    says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, rule::sort<key, shape<seq, key, masked_for<key>>>>);
static_assert(
    says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, rule::argsort<key, shape<seq, key, masked_for<key>>>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents, rule::sort<packed_seq, shape<packed_seq, d_k>>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents,
                   rule::argsort<merged<heads, packed_seq>, shape<merged<heads, packed_seq>>>>);
static_assert(says<ERROR_R5_alternatives_are_chosen_by_weights_over_positions,
                   rule::argsort<vocab, shape<seq, vocab, normalised<seq>>>>);
static_assert(says<ERROR_R5_alternatives_are_chosen_by_weights_over_positions,
                   rule::sort<vocab, shape<seq, vocab, normalised<seq>>>>);

// one_hot: the dimension comes last; only its own ids have a place in it.
static_assert(gives<rule::one_hot<vocab, vocab, shape<batch, seq>>, shape<batch, seq, vocab>>);
static_assert(gives<rule::one_hot<vocab, vocab, shape<>>, shape<vocab>>);
static_assert(gives<rule::one_hot<vocab, vocab, shape<batch, indexed<seq>>>, shape<batch, vocab, indexed<seq>>>);
static_assert(gives<rule::one_hot<seq, seq, shape<batch, indexed<seq>>>, shape<batch, seq>>);
static_assert(says<ERROR_R18_ids_index_their_own_dimension_only, rule::one_hot<vocab, experts, shape<seq>>>);
static_assert(says<ERROR_R18_ids_index_their_own_dimension_only, rule::one_hot<vocab, void, shape<seq>>>);
static_assert(says<ERROR_R18_ids_of_a_composite_are_split_first, rule::one_hot<M, M, shape<seq>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::one_hot<vocab, vocab, shape<batch, vocab>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::one_hot<heads, heads, shape<M>>>);

// scatter_add: what the ids and the values share is kept, but for D and what the call names, over which is summed.
template <class D, class Id, class Summed, class Values, class Ids>
using scatter = rule::scatter_add<D, Id, Summed, Values, Ids>;
static_assert(gives<scatter<vocab, vocab, list<batch, seq>, X, shape<batch, seq>>, shape<vocab, d_model>>);
static_assert(gives<scatter<vocab, vocab, list<seq>, X, shape<seq, batch>>, shape<vocab, batch, d_model>>);
static_assert(gives<scatter<vocab, vocab, list<>, X, shape<batch, seq>>, shape<vocab, batch, seq, d_model>>);
static_assert(gives<scatter<vocab, vocab, list<seq>, X, shape<seq>>, shape<vocab, batch, d_model>>);
static_assert(gives<scatter<seq, seq, list<>, X, shape<seq>>, shape<seq, batch, d_model>>);
static_assert(gives<scatter<M, M, list<>, shape<M, seq>, shape<M>>, shape<M, seq>>);
static_assert(gives<scatter<vocab, vocab, list<seq>, shape<seq, key, score<d_k>>, shape<seq>>, shape<vocab, key>>);
static_assert(gives<scatter<vocab, vocab, list<batch>, shape<batch, d_k, indexed<seq>>, shape<batch, indexed<seq>>>,
                    shape<vocab, d_k, indexed<seq>>>);
static_assert(says<ERROR_R18_ids_index_their_own_dimension_only, scatter<vocab, experts, list<>, X, shape<seq>>>);
static_assert(says<ERROR_R18_ids_of_a_composite_are_split_first, scatter<M, M, list<>, shape<seq, d_k>, shape<seq>>>);
static_assert(std::is_same_v<scatter<vocab, vocab, list<>, X, shape<batch, key>>,
                             ERROR_R1_dimension_is_not_in_the_operand<op::scatter_add, over<about<key, run_time>>,
                                                                      operand_shape<batch, seq, d_model>>>);
static_assert(
    says<ERROR_R4_composite_has_other_factors_or_order, scatter<vocab, vocab, list<>, shape<M>, shape<heads>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, scatter<vocab, vocab, list<batch>, X, shape<seq>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   scatter<vocab, vocab, list<>, shape<batch, indexed<seq>>, shape<batch, seq>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   scatter<vocab, vocab, list<>, X, shape<batch, indexed<seq>>>>);
static_assert(says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction,
                   scatter<vocab, vocab, list<>, shape<seq, key, masked_for<key>>, shape<seq>>>);
static_assert(says<ERROR_R5_weighted_product_is_reduced_over_its_weights_only,
                   scatter<vocab, vocab, list<seq>, shape<seq, key, weighted<key>>, shape<seq>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, scatter<vocab, vocab, list<>, shape<seq, vocab>, shape<seq>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, scatter<seq, seq, list<seq>, X, shape<seq>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, scatter<vocab, vocab, list<seq, seq>, X, shape<seq>>>);
static_assert(says<ERROR_R1_operation_names_its_dimension, scatter<vocab, vocab, list<float>, X, shape<seq>>>);
// Weights stay weights where their dimension is kept.
static_assert(gives<scatter<vocab, vocab, list<>, shape<seq, key, weighted<key>>, shape<seq>>,
                    shape<vocab, seq, key, weighted<key>>>);

TEST_CASE("shape: another order, and ids as places") { CHECK(allowed<rule::roll<seq, X>>); }

}  // namespace
}  // namespace shape_test
