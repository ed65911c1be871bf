// tests/shape/rules/index.test.cpp -- taking and joining, each condition in both directions.
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace shape_test {
namespace {

using X = shape<batch, seq, d_model>;

// R18: `at` removes the dimension and says so; marks that speak of it end, but what a mask hid stays hidden (R7).
static_assert(gives<rule::at<seq, X>, shape<batch, d_model, indexed<seq>>>);
static_assert(gives<rule::at<seq, shape<seq, d_k, rotated<d_k, seq>>>, shape<d_k, rotated<d_k, seq>, indexed<seq>>>);
static_assert(gives<rule::at<key, shape<seq, key, normalised<key>>>, shape<seq, indexed<key>>>);
static_assert(gives<rule::at<key, shape<seq, key, weighted<key>>>, shape<seq, indexed<key>>>);
static_assert(gives<rule::at<key, shape<seq, key, masked_for<key>>>, shape<seq, masked_for<key>, indexed<key>>>);
static_assert(gives<rule::at<seq, shape<seq, key, normalised<key>>>, shape<key, normalised<key>, indexed<seq>>>);
static_assert(gives<rule::at<d_k, shape<seq, d_k, rotated<d_k, seq>>>, shape<seq, indexed<d_k>>>);
static_assert(gives<rule::at<seq, shape<seq, key, score<d_k>>>, shape<key, score<d_k>, indexed<seq>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::at<key, X>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order, rule::at<heads, shape<merged<heads, d_v>>>>);
static_assert(
    std::is_same_v<rule::at<merged<heads, d_v>, shape<merged<heads, d_v>>>,
                   ERROR_R18_ids_of_a_composite_are_split_first<op::at, over<about<merged<heads, d_v>, extent<18>>>,
                                                                operand_shape<merged<heads, d_v>>>>);

// R18: slice keeps a dynamic dimension, and names the result of a static one, of the same kind and no longer.
struct rot : feature_dim<2> {};
struct wide : feature_dim<13> {};
struct some : feature_dim<> {};
struct few : position_dim<2> {};
static_assert(gives<rule::slice<seq, seq, X>, X>);
static_assert(gives<rule::slice<seq, few, X>, shape<batch, few, d_model>>);
static_assert(gives<rule::slice<d_model, rot, X>, shape<batch, seq, rot>>);
static_assert(gives<rule::slice<d_model, some, X>, shape<batch, seq, some>>);
static_assert(std::is_same_v<rule::slice<d_model, d_model, X>,
                             ERROR_R18_slice_of_a_static_extent_names_its_result<
                                 op::slice, over<about<d_model, extent<12>>>, operand_shape<batch, seq, d_model>>>);
static_assert(says<ERROR_R18_slice_is_longer_than_its_dimension, rule::slice<d_model, wide, X>>);
static_assert(allowed<rule::slice<d_ff, wide, shape<d_ff>>>);
static_assert(says<ERROR_R18_slice_has_another_kind, rule::slice<d_model, few, X>>);
static_assert(says<ERROR_R18_slice_has_another_kind, rule::slice<nothing_special, one, shape<nothing_special>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::slice<key, few, X>>);
//     A slice of a composite is none: it names a plain dimension of its kind, where it has one.
struct rows : position_dim<> {};
using M = merged<heads, d_v>;
static_assert(gives<rule::slice<M, rot, shape<seq, M>>, shape<seq, rot>>);
static_assert(gives<rule::slice<M, some, shape<M, seq>>, shape<some, seq>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order, rule::slice<M, d_v, shape<M>>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order,
                   rule::slice<summed<one, seq>, seq, shape<summed<one, seq>, d_k>>>);
static_assert(gives<rule::slice<summed<one, seq>, rows, shape<summed<one, seq>, d_k>>, shape<rows, d_k>>);
static_assert(gives<rule::slice<merged<batch, seq>, rows, shape<merged<batch, seq>, d_k>>, shape<rows, d_k>>);
static_assert(gives<rule::slice<merged<heads, key>, rows, shape<merged<heads, key>, normalised<merged<heads, key>>>>,
                    shape<rows, weighted<rows>>>);
static_assert(
    std::is_same_v<rule::slice<M, M, shape<M>>, ERROR_R18_slice_of_a_composite_names_a_plain_dimension<
                                                    op::slice, over<about<M, extent<18>>>, operand_shape<M>>>);
static_assert(says<ERROR_R18_slice_of_a_composite_names_a_plain_dimension, rule::slice<d_model, M, X>>);
static_assert(says<ERROR_R18_slice_of_a_composite_names_a_plain_dimension,
                   rule::slice<summed<one, seq>, summed<one, seq>, shape<summed<one, seq>>>>);
static_assert(says<ERROR_R18_slice_has_another_kind, rule::slice<M, rows, shape<M>>>);
static_assert(says<ERROR_R18_slice_is_longer_than_its_dimension,
                   rule::slice<merged<group_of, d_v>, wide, shape<merged<group_of, d_v>>>>);
static_assert(
    says<ERROR_R4_composite_has_other_factors_or_order, rule::slice<heads, heads, shape<merged<heads, d_v>>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::slice<d_model, rot, shape<d_model, rot>>>);
//     Weights over what is sliced no longer sum to one; marks follow the name.
static_assert(gives<rule::slice<key, key, shape<seq, key, normalised<key>>>, shape<seq, key, weighted<key>>>);
static_assert(gives<rule::slice<key, few, shape<seq, key, normalised<key>>>, shape<seq, few, weighted<few>>>);
static_assert(gives<rule::slice<seq, seq, shape<seq, key, normalised<key>>>, shape<seq, key, normalised<key>>>);
static_assert(
    gives<rule::slice<d_model, rot, shape<seq, d_model, rotated<d_model, seq>>>, shape<seq, rot, rotated<rot, seq>>>);

// R18: ids index their own dimension; theirs come first, and shared ones go element by element.
using Table = shape<vocab, d_model>;
static_assert(gives<rule::gather<vocab, vocab, Table, shape<batch, seq>>, shape<batch, seq, d_model>>);
static_assert(gives<rule::gather<vocab, vocab, shape<batch, seq, vocab>, shape<seq, batch>>, shape<seq, batch>>);
static_assert(gives<rule::gather<vocab, vocab, shape<heads, vocab>, shape<seq>>, shape<seq, heads>>);
static_assert(gives<rule::gather<seq, seq, X, shape<>>, shape<batch, d_model>>);
static_assert(std::is_same_v<rule::gather<vocab, experts, Table, shape<seq>>,
                             ERROR_R18_ids_index_their_own_dimension_only<op::gather, over<about<vocab, extent<11>>>,
                                                                          id<experts>, lhs<vocab, d_model>, rhs<seq>>>);
static_assert(says<ERROR_R18_ids_index_their_own_dimension_only, rule::gather<vocab, void, Table, shape<seq>>>);
//     Ids of a product are split first, unless they reorder it; those of a sum index one order of elements.
static_assert(std::is_same_v<
              rule::gather<M, M, shape<M>, shape<seq>>,
              ERROR_R18_ids_of_a_composite_are_split_first<op::gather, over<about<M, extent<18>>>, lhs<M>, rhs<seq>>>);
static_assert(says<ERROR_R18_ids_of_a_composite_are_split_first, rule::gather<M, M, shape<M>, shape<heads>>>);
static_assert(gives<rule::gather<M, M, shape<M, seq>, shape<M>>, shape<M, seq>>);
static_assert(gives<rule::gather<summed<one, seq>, summed<one, seq>, shape<summed<one, seq>, d_k>, shape<batch>>,
                    shape<batch, d_k>>);
//     Ids that have D reorder it: it stays, with the marks that speak of it; what summed to one does so no more.
static_assert(gives<rule::gather<seq, seq, X, shape<seq>>, shape<seq, batch, d_model>>);
static_assert(gives<rule::gather<seq, seq, X, shape<batch, seq>>, shape<batch, seq, d_model>>);
static_assert(
    gives<rule::gather<key, key, shape<seq, key, normalised<key>>, shape<key>>, shape<key, seq, weighted<key>>>);
static_assert(
    gives<rule::gather<key, key, shape<key, d_k, rotated<d_k, seq>>, shape<key>>, shape<key, d_k, rotated<d_k, seq>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::gather<vocab, vocab, shape<vocab, indexed<seq>>, shape<seq>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::gather<vocab, vocab, shape<seq, vocab>, shape<batch, indexed<seq>>>>);
static_assert(allowed<rule::gather<vocab, vocab, shape<vocab, indexed<seq>>, shape<batch, indexed<seq>>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::gather<vocab, vocab, X, shape<seq>>>);
static_assert(says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction,
                   rule::gather<vocab, vocab, shape<vocab, masked_for<vocab>>, shape<seq>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::concat<summed<src, src>, shape<src, d_k>, shape<src, d_k>>>);
static_assert(
    says<ERROR_R17_dimension_occurs_twice, rule::gather<vocab, vocab, shape<vocab, merged<heads, d_v>>, shape<heads>>>);
static_assert(gives<rule::gather<vocab, vocab, shape<seq, vocab, normalised<vocab>>, shape<seq>>, shape<seq>>);
static_assert(
    gives<rule::gather<seq, seq, shape<seq, key, normalised<key>>, shape<batch>>, shape<batch, key, weighted<key>>>);

// R10, R17: the operands of a vector have one type; their number is a run-time value.
static_assert(gives<rule::stack_of_vector<src, shape<batch, d_k>>, shape<src, batch, d_k>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::stack_of_vector<seq, X>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order, rule::stack_of_vector<merged<seq, src>, shape<d_k>>>);

// R10, R18: what takes the place of elements has all dimensions of the operand, or lacks the one that is named.
static_assert(gives<rule::replace_at<seq, X, shape<d_model, batch>>, X>);
static_assert(gives<rule::replace_at<seq, X, X>, X>);
static_assert(gives<rule::replace_at<seq, X, shape<batch, d_model, indexed<seq>>>, X>);
static_assert(
    gives<rule::replace_at<key, shape<seq, key, normalised<key>>, shape<seq>>, shape<seq, key, weighted<key>>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension, rule::replace_at<seq, X, shape<d_model>>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension, rule::replace_at<seq, X, shape<batch, d_k>>>);
static_assert(
    says<ERROR_R10_operands_differ_in_another_dimension, rule::replace_at<seq, X, shape<batch, d_model, score<d_k>>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::replace_at<src, X, shape<d_model>>>);
static_assert(says<ERROR_R18_ids_of_a_composite_are_split_first,
                   rule::replace_at<merged<seq, src>, shape<merged<seq, src>>, shape<>>>);

// R10: concatenation names its dimension, of a dynamic extent; all else is identical by type, the order aside.
static_assert(gives<rule::concat<seq, X, X>, X>);
static_assert(gives<rule::concat<seq, X, shape<seq, d_model, batch>, X>, X>);
static_assert(std::is_same_v<rule::concat<seq, X, shape<seq, d_model>>,
                             ERROR_R10_operands_differ_in_another_dimension<op::concat, over<about<seq, run_time>>,
                                                                            operand_shape<batch, seq, d_model>,
                                                                            operand_shape<seq, d_model>>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension, rule::concat<seq, X, X, shape<batch, seq, d_v>>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension,
                   rule::concat<seq, shape<seq, d_k, rotated<d_k, seq>>, shape<seq, d_k>>>);
static_assert(gives<rule::concat<seq, shape<seq, d_k, rotated<d_k, seq>>, shape<seq, d_k, rotated<d_k, seq>>>,
                    shape<seq, d_k, rotated<d_k, seq>>>);
static_assert(std::is_same_v<rule::concat<d_model, X, X>,
                             ERROR_R10_concat_of_a_static_extent_names_its_result<
                                 op::concat, over<about<d_model, extent<12>>>, operand_shape<batch, seq, d_model>,
                                 operand_shape<batch, seq, d_model>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::concat<key, X, X>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::concat<seq, X, shape<batch, key, d_model>>>);
static_assert(gives<rule::concat<key, shape<seq, key, normalised<key>>, shape<seq, key, normalised<key>>>,
                    shape<seq, key, weighted<key>>>);
//     Into a sum: one operand for each part, in the order of the parts.
using S = summed<one, src>;
static_assert(gives<rule::concat<S, shape<batch, one, d_model>, shape<batch, src, d_model>>, shape<batch, S, d_model>>);
static_assert(gives<rule::concat<S, shape<one>, shape<src>>, shape<S>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::concat<S, shape<src>, shape<one>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::concat<S, shape<one>, shape<one>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::concat<S, shape<src>, shape<src>>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension, rule::concat<S, shape<one>>>);
static_assert(
    says<ERROR_R10_operands_differ_in_another_dimension, rule::concat<S, shape<one>, shape<src>, shape<src>>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension, rule::concat<S, shape<one, batch>, shape<src>>>);
//     The error shows the part that an operand lacks, and the operand that differs from the first.
static_assert(
    std::is_same_v<rule::concat<S, shape<one, batch>, shape<one, batch>>,
                   ERROR_R1_dimension_is_not_in_the_operand<op::concat, over<detail::about_t<src>>,
                                                            over<detail::about_t<S>>, operand_shape<one, batch>>>);
using three_parts = summed<one, src, seq>;
static_assert(
    std::is_same_v<rule::concat<three_parts, shape<one, batch>, shape<src, batch>, shape<seq>>,
                   ERROR_R10_operands_differ_in_another_dimension<op::concat, over<detail::about_t<three_parts>>,
                                                                  operand_shape<one, batch>, operand_shape<seq>>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension,
                   rule::concat<S, shape<one, d_k, rotated<d_k, seq>>, shape<src, d_k>>>);

// What was added to one part alone tells it apart from the others.
static_assert(gives<rule::concat<S, shape<seq, one, score<d_k>>, shape<seq, src, score<d_k>, biased_for<seq, src>>>,
                    shape<seq, S, score<d_k>, biased_for<S, seq>>>);
static_assert(gives<rule::concat<S, shape<seq, one, score<d_k>, biased_for<seq>>, shape<seq, src, score<d_k>>>,
                    shape<seq, S, score<d_k>, biased_for<S, seq>>>);
static_assert(gives<rule::concat<S, shape<seq, one, biased_for<one>>, shape<seq, src, biased_for<src>>>,
                    shape<seq, S, biased_for<S>>>);
static_assert(
    gives<rule::concat<seq, shape<seq, key, biased_for<key>>, shape<seq, key>>, shape<seq, key, biased_for<key, seq>>>);
static_assert(allowed<rule::softmax<op::softmax, list<S>,
                                    rule::concat<S, shape<seq, one>, shape<seq, src, biased_for<seq, src>>>::shape>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension,
                   rule::concat<S, shape<seq, one, raw<d_k>>, shape<seq, src, score<d_k>, biased_for<seq, src>>>>);

// R10, R17: stack adds its dimension in front, of as many as there are operands, which are identical by type.
struct pair : batch_dim<2> {};
static_assert(gives<rule::stack<pair, X, X>, shape<pair, batch, seq, d_model>>);
static_assert(gives<rule::stack<layers, X, X, X>, shape<layers, batch, seq, d_model>>);
static_assert(gives<rule::stack<layers, X, shape<seq, batch, d_model>>, shape<layers, batch, seq, d_model>>);
static_assert(gives<rule::stack<seq, shape<d_k, indexed<seq>>, shape<d_k, indexed<seq>>>, shape<seq, d_k>>);
static_assert(std::is_same_v<rule::stack<pair, X, X, X>,
                             ERROR_R10_stack_has_another_extent<op::stack, over<about<pair, extent<2>>>, extent<3>,
                                                                operand_shape<batch, seq, d_model>>>);
static_assert(says<ERROR_R10_stack_has_another_extent, rule::stack<pair, X>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension, rule::stack<pair, X, shape<batch, src, d_model>>>);
static_assert(
    says<ERROR_R10_operands_differ_in_another_dimension, rule::stack<pair, shape<seq, score<d_k>>, shape<seq>>>);
struct triple : choice_dim<3> {};
static_assert(std::is_same_v<
              rule::stack<triple, X, X, shape<batch, src, d_model>>,
              ERROR_R10_operands_differ_in_another_dimension<
                  op::stack, over<detail::about_t<triple>>, detail::operand_t<X>, operand_shape<batch, src, d_model>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::stack<batch, X, X>>);
static_assert(gives<rule::stack<layers, shape<seq, biased_for<seq>>, shape<seq>>, shape<layers, seq, biased_for<seq>>>);
static_assert(gives<rule::stack<key, shape<seq, biased_for<seq>>, shape<seq>>, shape<key, seq, biased_for<key, seq>>>);

// R7: one part may be masked, whose mask serves the whole then; two masks serve the same.
template <class D, class... Shapes>
using joined = rule::concat<D, Shapes...>;
using in_front = summed<src, key>;
static_assert(gives<joined<in_front, shape<seq, src, score<d_k>>, shape<seq, key, score<d_k>, masked_for<key>>>,
                    shape<seq, in_front, score<d_k>, masked_for<in_front>>>);
static_assert(gives<joined<in_front, shape<seq, src, masked_for<src>>, shape<seq, key, masked_for<key>>>,
                    shape<seq, in_front, masked_for<in_front>>>);
static_assert(
    gives<joined<in_front, shape<seq, src, masked_for<seq>>, shape<seq, key>>, shape<seq, in_front, masked_for<seq>>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension,
                   joined<in_front, shape<seq, src, masked_for<seq>>, shape<seq, key, masked_for<key>>>>);
static_assert(gives<joined<key, shape<seq, key>, shape<seq, key, masked_for<key>>>, shape<seq, key, masked_for<key>>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension,
                   joined<key, shape<seq, key, masked_for<seq>>, shape<seq, key, masked_for<key>>>>);
static_assert(gives<rule::stack<layers, shape<seq, key>, shape<seq, key, masked_for<key>>>,
                    shape<layers, seq, key, masked_for<key>>>);
static_assert(says<ERROR_R7_mask_does_not_serve_this_dimension,
                   rule::softmax<op::softmax, list<seq>, shape<seq, in_front, masked_for<in_front>>>>);

TEST_CASE("shape: the rules of taking and joining") {
  CHECK(allowed<rule::at<seq, X>>);
  CHECK(refused<rule::at<key, X>>);
}

}  // namespace
}  // namespace shape_test
