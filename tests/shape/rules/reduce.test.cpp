// tests/shape/rules/reduce.test.cpp -- softmax, reductions, norms and running sums, each condition in both directions.
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace shape_test {
namespace {

template <class Shape, class... D>
using soft = rule::softmax<op::softmax, list<D...>, Shape>;
template <class Shape, class... D>
using total = rule::reduce<op::sum, list<D...>, Shape>;
template <class Shape, class... D>
using average = rule::reduce<op::mean, list<D...>, Shape>;
template <class Shape, class... D>
using norm = rule::norm<op::layer_norm, list<D...>, Shape>;

template <class... M>
using S = shape<heads, seq, key, M...>;

// R1, R4: the dimensions are there, and not hidden in a composite.
static_assert(
    std::is_same_v<soft<S<>, src>, ERROR_R1_dimension_is_not_in_the_operand<op::softmax, over<about<src, extent<7>>>,
                                                                            operand_shape<heads, seq, key>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, soft<S<>, key, src>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, total<S<>, src>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, norm<S<>, d_model>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::cumsum<list<src>, S<>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::renormalise<list<src>, S<>>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order, soft<shape<seq, merged<heads, key>>, key>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order, total<shape<seq, merged<heads, d_v>>, heads>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order, total<shape<seq, heads, d_v>, merged<heads, d_v>>>);

// R17: none is named twice.
static_assert(
    std::is_same_v<soft<S<>, key, key>,
                   ERROR_R17_dimension_occurs_twice<op::softmax, over<about<key, run_time>, about<key, run_time>>,
                                                    operand_shape<heads, seq, key>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, total<S<>, seq, key, seq>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, average<S<>, key, key>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, norm<shape<seq, d_model>, d_model, d_model>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::norm<op::standardize, list<seq, seq>, shape<seq, d_model>>>);
static_assert(
    says<ERROR_R17_dimension_occurs_twice,
         rule::norm_with<op::layer_norm, list<d_model, d_model>, shape<seq, d_model>, shape<d_model>, shape<d_model>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::renormalise<list<key, key>, S<>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::cumsum<list<seq, seq>, S<>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::reduce<op::logsumexp, list<key, key>, S<>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice,
                   rule::reduce_masked<op::sum, list<key, key>, S<>, detail::mask_facts<list<key>, list<key>, false>>>);

// R5: softmax sets the mark; what sums to one, or is a product with it, is refused.
static_assert(gives<soft<S<score<d_k>>, key>, S<normalised<key>>>);
static_assert(gives<soft<S<>, seq, key>, S<normalised<seq, key>>>);
static_assert(gives<soft<shape<seq, vocab>, vocab>, shape<seq, vocab, normalised<vocab>>>);
static_assert(gives<rule::softmax<op::log_softmax, list<key>, S<score<d_k>>>, S<log_normalised<key>>>);
static_assert(says<ERROR_R5_already_normalised, soft<S<normalised<key>>, key>>);
static_assert(says<ERROR_R5_already_normalised, soft<S<normalised<seq>>, key>>);
static_assert(says<ERROR_R5_weighted_product_is_reduced_over_its_weights_only, soft<S<weighted<key>>, key>>);
static_assert(says<ERROR_R5_already_normalised, rule::softmax<op::log_softmax, list<key>, S<normalised<key>>>>);
static_assert(says<ERROR_R5_already_normalised, rule::reduce<op::logsumexp, list<key>, S<normalised<key>>>>);
//     A static extent of 1 is refused, unless another dimension goes with it.
static_assert(
    std::is_same_v<soft<shape<seq, one>, one>, ERROR_R5_softmax_over_a_single_element<
                                                   op::softmax, over<about<one, extent<1>>>, operand_shape<seq, one>>>);
static_assert(says<ERROR_R5_softmax_over_a_single_element, rule::softmax<op::log_softmax, list<one>, shape<seq, one>>>);
static_assert(allowed<soft<shape<seq, one>, seq, one>>);

// R6: raw products are refused.
static_assert(says<ERROR_R6_raw_products_are_scaled_first, soft<S<raw<d_k>>, key>>);
static_assert(says<ERROR_R6_raw_products_are_scaled_first, soft<S<raw<d_k>, masked_for<key>>, key>>);
static_assert(says<ERROR_R6_raw_products_are_scaled_first, rule::softmax<op::log_softmax, list<key>, S<raw<d_k>>>>);
static_assert(says<ERROR_R6_raw_products_are_scaled_first, rule::reduce<op::logsumexp, list<key>, S<raw<d_k>>>>);
static_assert(says<ERROR_R6_raw_products_are_scaled_first, rule::renormalise<list<key>, S<raw<d_k>>>>);
static_assert(says<ERROR_R6_scores_go_to_softmax, rule::renormalise<list<key>, S<score<d_k>>>>);

// R7: a mask names the dimension that follows, and ends there.
static_assert(gives<soft<S<score<d_k>, masked_for<key>>, key>, S<normalised<key>>>);
static_assert(gives<soft<S<masked_for<key, seq>>, key>, S<normalised<key>>>);
static_assert(
    std::is_same_v<soft<S<masked_for<seq>>, key>,
                   ERROR_R7_mask_does_not_serve_this_dimension<op::softmax, over<about<key, run_time>>,
                                                               operand_shape<heads, seq, key, masked_for<seq>>,
                                                               over<seq>>>);  // hidden queries of these keys
static_assert(says<ERROR_R7_mask_does_not_serve_this_dimension, total<S<masked_for<key>>, seq>>);
static_assert(
    std::is_same_v<total<S<masked_for<key>>, seq>,
                   ERROR_R7_mask_does_not_serve_this_dimension<op::sum, over<about<seq, run_time>>,
                                                               operand_shape<heads, seq, key, masked_for<key>>>>);
// R13: an error names only the dimensions of another kind.
static_assert(std::is_same_v<soft<shape<batch, seq>, batch, seq>,
                             ERROR_R13_softmax_takes_attendable_or_choice<op::softmax, over<about<batch, run_time>>,
                                                                          operand_shape<batch, seq>>>);
static_assert(
    says<ERROR_R7_mask_does_not_serve_this_dimension, rule::reduce<op::argmax, list<seq>, S<masked_for<key>>>>);
static_assert(gives<total<S<masked_for<key>>, key>, shape<heads, seq>>);
static_assert(gives<total<S<masked_for<key>>, seq, key>, shape<heads>>);
static_assert(gives<total<shape<seq, experts, masked_for<experts>>, experts>, shape<seq>>);
static_assert(
    says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, norm<shape<seq, d_model, masked_for<seq>>, d_model>>);
static_assert(says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction,
                   rule::norm<op::standardize, list<seq>, shape<seq, masked_for<seq>>>>);
static_assert(
    says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, rule::cumsum<list<seq>, shape<seq, masked_for<seq>>>>);
static_assert(
    says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, rule::renormalise<list<key>, S<masked_for<key>>>>);

// R13: softmax takes positions and alternatives.
static_assert(
    std::is_same_v<soft<S<>, heads>, ERROR_R13_softmax_takes_attendable_or_choice<
                                         op::softmax, over<about<heads, extent<3>>>, operand_shape<heads, seq, key>>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice, soft<shape<batch, key>, batch>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice, soft<shape<seq, d_model>, d_model>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice, soft<S<>, key, heads>>);
static_assert(allowed<soft<shape<seq, experts>, experts>>);
//     So do renormalise and argmax.
static_assert(gives<rule::renormalise<list<key>, S<normalised<seq>>>, S<normalised<key>>>);
static_assert(gives<rule::renormalise<list<key>, S<weighted<key>>>, S<normalised<key>>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice, rule::renormalise<list<heads>, S<>>>);
static_assert(gives<rule::reduce<op::argmax, list<vocab>, shape<batch, seq, vocab>>, shape<batch, seq>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice,
                   rule::reduce<op::argmax, list<merged<seq, vocab>>, shape<merged<seq, vocab>>>>);
static_assert(gives<rule::reduce<op::argmax, list<vocab>, shape<seq, vocab, normalised<vocab>>>, shape<seq>>);
static_assert(gives<rule::reduce<op::argmax, list<key>, S<score<d_k>>>, shape<heads, seq>>);
static_assert(gives<rule::reduce<op::logsumexp, list<key>, S<score<d_k>>>, shape<heads, seq>>);
static_assert(gives<rule::reduce<op::logsumexp, list<vocab>, shape<seq, vocab, score<d_k>>>, shape<seq>>);

// R13: layer_norm and rms_norm take features; statistics take any.
static_assert(gives<norm<shape<seq, d_model>, d_model>, shape<seq, d_model>>);
static_assert(gives<norm<shape<seq, merged<heads, d_v>>, merged<heads, d_v>>, shape<seq, merged<heads, d_v>>>);
static_assert(std::is_same_v<
              norm<shape<seq, d_model>, seq>,
              ERROR_R13_norm_takes_features<op::layer_norm, over<about<seq, run_time>>, operand_shape<seq, d_model>>>);
static_assert(says<ERROR_R13_norm_takes_features, norm<shape<seq, d_model>, seq, d_model>>);
static_assert(says<ERROR_R13_norm_takes_features, rule::norm<op::rms_norm, list<batch>, shape<batch, d_model>>>);
static_assert(gives<rule::norm<op::rms_norm, list<d_model>, shape<seq, d_model>>, shape<seq, d_model>>);
static_assert(
    gives<rule::norm<op::standardize, list<batch, seq>, shape<batch, seq, d_model>>, shape<batch, seq, d_model>>);

// R13: running sums take ordered dimensions.
static_assert(gives<rule::cumsum<list<seq>, shape<seq, d_model>>, shape<seq, d_model>>);
static_assert(std::is_same_v<rule::cumsum<list<d_model>, shape<seq, d_model>>,
                             ERROR_R13_needs_ordered_positions<op::cumsum, over<about<d_model, extent<12>>>,
                                                               operand_shape<seq, d_model>>>);
static_assert(says<ERROR_R13_needs_ordered_positions, rule::cumsum<list<vocab>, shape<vocab>>>);
static_assert(gives<rule::cumprod<list<seq>, shape<seq, d_model>>, shape<seq, d_model>>);
static_assert(
    gives<rule::cumprod<list<seq>, shape<seq, vocab, normalised<vocab>>>, shape<seq, vocab, weighted<vocab>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::cumprod<list<src>, S<>>>);
static_assert(says<ERROR_R13_needs_ordered_positions, rule::cumprod<list<batch>, shape<batch>>>);
static_assert(
    says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, rule::cumprod<list<seq>, shape<seq, masked_for<seq>>>>);
static_assert(
    says<ERROR_R19_packed_positions_need_their_documents, rule::cumprod<list<packed_seq>, shape<packed_seq>>>);

// Named sums remove their dimensions, of any kind; the others keep their order.
static_assert(gives<total<shape<batch, heads, seq>, heads>, shape<batch, seq>>);
static_assert(gives<total<shape<batch, heads, seq>, seq, batch>, shape<heads>>);
static_assert(gives<total<shape<d_model>, d_model>, shape<>>);
static_assert(gives<total<shape<nothing_special, seq>, nothing_special>, shape<seq>>);

// R5: what is weighted is summed over its own dimension, or over parallel ones, which keep it.
static_assert(gives<total<S<weighted<key>>, key>, shape<heads, seq>>);
static_assert(gives<total<S<weighted<key>>, heads>, shape<seq, key, weighted<key>>>);
static_assert(gives<total<S<weighted<key>>, heads, key>, shape<seq>>);
static_assert(std::is_same_v<total<S<weighted<key>>, seq>,
                             ERROR_R5_weighted_product_is_reduced_over_its_weights_only<
                                 op::sum, over<about<seq, run_time>>, operand_shape<heads, seq, key, weighted<key>>>>);
static_assert(says<ERROR_R5_weighted_product_is_reduced_over_its_weights_only, total<S<weighted<key>>, seq, key>>);
//     The mean over the dimension of weights is 1/n; sums and extremes over it say something.
static_assert(
    std::is_same_v<average<shape<heads, seq, key, normalised<key>>, key>,
                   ERROR_R5_mean_divides_weights_that_already_sum_to_one<
                       op::mean, over<about<key, run_time>>, operand_shape<heads, seq, key, normalised<key>>>>);
static_assert(says<ERROR_R5_mean_divides_weights_that_already_sum_to_one,
                   average<shape<heads, seq, key, normalised<key>>, heads, key>>);
static_assert(says<ERROR_R5_mean_divides_weights_that_already_sum_to_one,
                   average<shape<seq, merged<heads, key>, normalised<key>>, merged<heads, key>>>);
static_assert(
    says<ERROR_R5_mean_divides_weights_that_already_sum_to_one, average<shape<seq, key, weighted<key>>, key>>);
static_assert(gives<total<shape<heads, seq, key, normalised<key>>, key>, shape<heads, seq>>);
static_assert(gives<rule::reduce<op::max, list<key>, shape<heads, seq, key, normalised<key>>>, shape<heads, seq>>);
static_assert(gives<average<shape<heads, seq, key, normalised<key>>, seq>, shape<heads, key>>);
//     The mean over heads keeps weights, their sum does not; sums over positions end the mark.
static_assert(gives<average<S<normalised<key>>, heads>, shape<seq, key, normalised<key>>>);
static_assert(gives<total<S<normalised<key>>, heads>, shape<seq, key, weighted<key>>>);
static_assert(gives<total<S<normalised<key>>, seq>, shape<heads, key>>);
static_assert(gives<average<S<normalised<key>>, heads, seq>, shape<key>>);

//     So it is where the dimension is parallel itself, or a choice.
static_assert(gives<total<shape<seq, experts, weighted<experts>>, experts>, shape<seq>>);
static_assert(gives<total<shape<seq, vocab, weighted<vocab>>, vocab>, shape<seq>>);
static_assert(gives<total<shape<seq, vocab, normalised<vocab>>, vocab>, shape<seq>>);

// Other marks: rotated ends with its feature, scores stay scores.
static_assert(gives<total<shape<seq, d_k, rotated<d_k, seq>>, d_k>, shape<seq>>);
static_assert(gives<total<shape<seq, d_k, rotated<d_k, seq>>, seq>, shape<d_k, rotated<d_k, seq>>>);
static_assert(gives<total<S<score<d_k>>, heads>, shape<seq, key, score<d_k>>>);
static_assert(gives<total<shape<key, d_k, indexed<seq>>, key>, shape<d_k, indexed<seq>>>);

// A norm is a total like any other: of a feature, of positions, of what a mask allows.
template <class Shape, class... D>
using length = rule::reduce<op::norm, list<D...>, Shape>;
static_assert(gives<length<shape<batch, seq, d_model>, d_model>, shape<batch, seq>>);
static_assert(gives<length<shape<batch, seq, d_model>, d_model, seq>, shape<batch>>);
static_assert(gives<length<shape<seq, d_k, rotated<d_k, seq>>, d_k>, shape<seq>>);
static_assert(gives<length<shape<seq, key, masked_for<key>>, key>, shape<seq>>);
static_assert(gives<length<S<normalised<key>>, key>, shape<heads, seq>>);
static_assert(gives<length<S<score<d_k>>, seq>, shape<heads, key>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, length<shape<batch, seq>, d_model>>);
static_assert(says<ERROR_R7_mask_does_not_serve_this_dimension, length<S<masked_for<key>>, seq>>);
static_assert(says<ERROR_R5_weighted_product_is_reduced_over_its_weights_only, length<S<weighted<key>>, seq>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, length<S<>, key, key>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents, length<shape<packed_seq, d_model>, packed_seq>>);

// So is a product.
template <class Shape, class... D>
using product = rule::reduce<op::prod, list<D...>, Shape>;
static_assert(gives<product<shape<batch, seq, d_model>, seq, batch>, shape<d_model>>);
static_assert(gives<product<shape<seq, key, masked_for<key>>, key>, shape<seq>>);
static_assert(gives<product<S<log_normalised<key>>, heads>, shape<seq, key>>);
static_assert(gives<product<S<normalised<key>>, heads>, shape<seq, key, weighted<key>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, product<shape<batch, seq>, d_model>>);
static_assert(says<ERROR_R7_mask_does_not_serve_this_dimension, product<S<masked_for<key>>, seq>>);
static_assert(says<ERROR_R5_weighted_product_is_reduced_over_its_weights_only, product<S<weighted<key>>, seq>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents, product<shape<packed_seq>, packed_seq>>);

// R19: packed positions do not mix without their documents, whatever mixes them.
static_assert(says<ERROR_R19_packed_positions_need_their_documents, soft<shape<packed_seq, packed_key>, packed_key>>);
static_assert(gives<soft<shape<packed_seq, packed_key, masked_for<packed_key>>, packed_key>,
                    shape<packed_seq, packed_key, normalised<packed_key>>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents, total<shape<packed_seq, d_model>, packed_seq>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents,
                   total<shape<merged<heads, packed_seq>>, merged<heads, packed_seq>>>);
static_assert(gives<total<shape<packed_seq, d_model>, d_model>, shape<packed_seq>>);
// Also behind another part, and by the prime of such a dimension; unless it is said.
using behind_cls = summed<src, packed_seq>;
static_assert(says<ERROR_R19_packed_positions_need_their_documents, total<shape<behind_cls, d_model>, behind_cls>>);
static_assert(
    says<ERROR_R19_packed_positions_need_their_documents, soft<shape<seq, prime<behind_cls>>, prime<behind_cls>>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents,
                   total<shape<prime<merged<batch, packed_seq>>>, prime<merged<batch, packed_seq>>>>);
static_assert(gives<rule::reduce_all<op::sum, list<packed_seq>, shape<packed_seq, d_model>>, shape<d_model>>);
static_assert(gives<rule::contract_all<list<packed_seq>, list<>, shape<packed_seq, d_model>, shape<packed_seq, d_v>>,
                    shape<d_model, d_v>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents,
                   rule::norm<op::standardize, list<packed_seq>, shape<packed_seq>>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents, rule::cumsum<list<packed_seq>, shape<packed_seq>>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents,
                   rule::reduce<op::argmax, list<packed_seq>, shape<packed_seq>>>);

//     Each packed dimension needs them: a mask that serves another one beside it says nothing of documents.
static_assert(says<ERROR_R19_packed_positions_need_their_documents,
                   soft<shape<packed_seq, src, packed_key, masked_for<src>>, src, packed_key>>);
static_assert(says<ERROR_R19_packed_positions_need_their_documents,
                   average<shape<src, packed_seq, masked_for<src>>, src, packed_seq>>);
static_assert(gives<total<shape<src, packed_seq, masked_for<packed_seq>>, src, packed_seq>, shape<>>);

// A reduction under a mask asks both rules, the mask's first; norms take gains of their own dimensions only.
using key_mask = detail::mask_facts<list<seq, key>, list<key>, false>;
// --- log-sum-exp and argmax go over what softmax goes over (R13) ---

template <class Op, class D, class... Rest>
using alternatives = rule::reduce<Op, list<D>, shape<D, Rest...>>;
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice, alternatives<op::logsumexp, batch, d_model>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice, alternatives<op::argmax, batch, vocab>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice, alternatives<op::argmax, d_model, seq>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice, alternatives<op::logsumexp, heads, seq>>);
static_assert(says<ERROR_R13_softmax_takes_attendable_or_choice,
                   rule::reduce<op::logsumexp, list<seq, batch>, shape<seq, batch>>>);
static_assert(gives<alternatives<op::logsumexp, experts, batch>, shape<batch>> &&
              gives<alternatives<op::argmax, experts, batch>, shape<batch>>);
static_assert(gives<alternatives<op::logsumexp, key, seq>, shape<seq>> &&
              gives<alternatives<op::argmax, vocab, seq>, shape<seq>>);
static_assert(gives<alternatives<op::sum, batch, seq>, shape<seq>> &&
              gives<alternatives<op::max, d_model, seq>, shape<seq>>);

static_assert(gives<rule::reduce_masked<op::mean, list<key>, S<>, key_mask>, shape<heads, seq>>);
static_assert(
    says<ERROR_R7_mask_does_not_serve_this_dimension, rule::reduce_masked<op::mean, list<seq>, S<>, key_mask>>);
static_assert(says<ERROR_R7_mask_has_dimensions_that_the_scores_lack,
                   rule::reduce_masked<op::mean, list<seq>, shape<seq, d_model>, key_mask>>);
static_assert(gives<rule::norm_with<op::layer_norm, list<d_model>, shape<seq, d_model>, shape<d_model>, shape<d_model>>,
                    shape<seq, d_model>>);
static_assert(says<ERROR_R13_norm_takes_features,
                   rule::norm_with<op::layer_norm, list<seq>, shape<seq, d_model>, shape<d_model>>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other,
                   rule::norm_with<op::layer_norm, list<d_model>, shape<seq, d_model>, shape<d_model>, shape<d_v>>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other,
                   rule::norm_with<op::rms_norm, list<d_model>, shape<d_model>, shape<batch, d_model>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::norm_with<op::rms_norm, list<d_model>, shape<seq, d_model>, shape<d_model, indexed<seq>>>>);

TEST_CASE("shape: the rules of softmax, reductions, norms and running sums") {
  CHECK(allowed<soft<S<>, key>>);
  CHECK(refused<soft<S<>, heads>>);
}

}  // namespace
}  // namespace shape_test
