// tests/shape/rules/mask.test.cpp -- masks and biases, each condition in both directions.
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace shape_test {
namespace {

// Facts of masks: their dimensions, the dimensions that they serve, and whether they keep documents apart.
using causal_facts = detail::mask_facts<list<seq, key>, list<key>, false>;
using padding_facts = detail::mask_facts<list<batch, key>, list<key>, false>;
using given_facts = detail::mask_facts<list<seq, key>, list<seq, key>, true>;
using document_facts = detail::mask_facts<list<packed_seq, packed_key>, list<packed_key>, true>;
template <class... D>
using mask_of = detail::mask_facts<list<D...>, list<key>, false>;

template <class... M>
using S = shape<heads, seq, key, M...>;

// R7: a mask may add parallel dimensions, which come last, and no others.
static_assert(gives<rule::masked<S<>, causal_facts>, S<masked_for<key>>>);
static_assert(gives<rule::masked<S<>, padding_facts>, shape<heads, seq, key, batch, masked_for<key>>>);
static_assert(gives<rule::masked<S<score<d_k>>, mask_of<key>>, S<score<d_k>, masked_for<key>>>);
static_assert(gives<rule::masked<S<>, mask_of<key, experts>>, shape<heads, seq, key, experts, masked_for<key>>>);
static_assert(std::is_same_v<rule::masked<shape<heads, seq, src>, causal_facts>,
                             ERROR_R7_mask_has_dimensions_that_the_scores_lack<
                                 op::masked, lhs<heads, seq, src>, over<about<seq, run_time>, about<key, run_time>>>>);
static_assert(says<ERROR_R7_mask_has_dimensions_that_the_scores_lack, rule::masked<S<>, mask_of<key, d_k>>>);
static_assert(says<ERROR_R7_mask_has_dimensions_that_the_scores_lack, rule::masked<S<>, mask_of<key, src>>>);
static_assert(
    says<ERROR_R7_mask_has_dimensions_that_the_scores_lack, rule::masked<S<>, mask_of<key, nothing_special>>>);
//     A mask of one part of a sum is a mask of the sum, on either side; a mask of two parts is not.
using two_parts = summed<src, key>;
static_assert(gives<rule::masked<shape<seq, two_parts>, mask_of<key>>, shape<seq, two_parts, masked_for<two_parts>>>);
static_assert(gives<rule::masked<shape<seq, two_parts>, causal_facts>, shape<seq, two_parts, masked_for<two_parts>>>);
static_assert(
    gives<rule::masked<shape<seq, two_parts>, padding_facts>, shape<seq, two_parts, batch, masked_for<two_parts>>>);
static_assert(
    gives<rule::masked<shape<seq, two_parts, masked_for<two_parts>>, detail::mask_facts<list<src>, list<src>, false>>,
          shape<seq, two_parts, masked_for<two_parts>>>);
static_assert(
    gives<rule::masked<shape<summed<src, seq>, key>, causal_facts>, shape<summed<src, seq>, key, masked_for<key>>>);
static_assert(
    says<ERROR_R7_mask_has_dimensions_that_the_scores_lack, rule::masked<shape<seq, two_parts>, mask_of<src, key>>>);
static_assert(!allowed<rule::masked<shape<summed<d_v, seq>, two_parts>, causal_facts>>);
static_assert(!allowed<rule::masked<shape<summed<seq, d_k>, prime<summed<seq, d_k>>>, mask_of<d_v>>>);
static_assert(
    gives<rule::reduce_masked<op::sum, list<two_parts>, shape<two_parts, d_model>, mask_of<key>>, shape<d_model>>);
//     What it serves is there, also where it is parallel.
static_assert(says<ERROR_R7_mask_has_dimensions_that_the_scores_lack,
                   rule::masked<shape<batch, seq>, detail::mask_facts<list<batch, experts>, list<experts>, false>>>);
static_assert(
    allowed<rule::masked<shape<batch, experts>, detail::mask_facts<list<batch, experts>, list<experts>, false>>>);
static_assert(gives<rule::masked<S<>, detail::mask_facts<list<experts, key>, list<experts, key>, false>>,
                    shape<heads, seq, key, experts, masked_for<key>>>);

// R4: flattened dimensions are taken apart first.
static_assert(std::is_same_v<rule::masked<S<>, mask_of<merged<heads, batch>, key>>,
                             ERROR_R4_composite_has_other_factors_or_order<
                                 op::masked, lhs<heads, seq, key>,
                                 over<about<merged<heads, batch>, run_time>, about<key, run_time>>>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order,
                   rule::masked<shape<merged<batch, heads>, key>, mask_of<heads, key>>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order,
                   rule::masked<shape<seq, key>, mask_of<merged<batch, heads>, heads, key>>>);
static_assert(gives<rule::masked<shape<seq, key>, mask_of<merged<batch, heads>, key>>,
                    shape<seq, key, merged<batch, heads>, masked_for<key>>>);

// R7: masking comes before softmax.
static_assert(std::is_same_v<rule::masked<S<normalised<key>>, mask_of<key>>,
                             ERROR_R7_masking_comes_before_softmax<op::masked, lhs<heads, seq, key, normalised<key>>,
                                                                   over<about<key, run_time>>>>);
static_assert(says<ERROR_R7_masking_comes_before_softmax, rule::masked<S<weighted<key>>, causal_facts>>);
static_assert(says<ERROR_R7_masking_comes_before_softmax, rule::biased<S<normalised<key>>, S<>>>);
static_assert(says<ERROR_R7_masking_comes_before_softmax, rule::biased<S<weighted<key>>, S<>>>);
static_assert(says<ERROR_R7_masking_comes_before_softmax, rule::position_biased<S<normalised<key>>, causal_facts>>);

// R7: several masks serve what all of them serve; nothing in common is refused.
static_assert(gives<rule::masked<S<>, given_facts>, S<masked_for<key, seq>>>);
static_assert(gives<rule::masked<S<masked_for<key, seq>>, causal_facts>, S<masked_for<key>>>);
static_assert(gives<rule::masked<S<masked_for<key>>, given_facts>, S<masked_for<key>>>);
static_assert(std::is_same_v<rule::masked<S<masked_for<seq>>, mask_of<key>>,
                             ERROR_R7_masks_serve_no_common_dimension<op::masked, lhs<heads, seq, key, masked_for<seq>>,
                                                                      over<about<key, run_time>>>>);
static_assert(
    says<ERROR_R7_masks_serve_no_common_dimension, rule::masked<S<>, detail::mask_facts<list<heads>, list<>, true>>>);

// Raw products may be masked; they stay raw.
static_assert(gives<rule::masked<S<raw<d_k>>, causal_facts>, S<raw<d_k>, masked_for<key>>>);

// R18: a mask of the positions does not meet the one that `at` took.
static_assert(
    says<ERROR_R18_single_element_meets_its_whole_dimension, rule::masked<shape<key, indexed<batch>>, padding_facts>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::biased<shape<key, indexed<heads>>, shape<heads, key>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension, rule::biased<S<>, shape<key, indexed<heads>>>>);
static_assert(gives<rule::masked<shape<key, indexed<seq>>, mask_of<key>>, shape<key, masked_for<key>, indexed<seq>>>);
static_assert(gives<rule::biased<S<>, shape<key, indexed<layers>>>, S<biased_for<key>, indexed<layers>>>);
static_assert(
    gives<rule::biased<shape<key, indexed<seq>>, shape<key, indexed<seq>>>, shape<key, biased_for<key>, indexed<seq>>>);
//     Nor do the elements of a mask, the table of a bias, or lengths that were taken of one position, head or example.
template <class Taken, class... D>
using taken_mask = detail::mask_facts<list<D...>, list<key>, false, list<Taken>>;
static_assert(std::is_same_v<rule::masked<S<>, taken_mask<seq, key>>,
                             ERROR_R18_single_element_meets_its_whole_dimension<op::masked, lhs<heads, seq, key>,
                                                                                rhs<key, indexed<seq>>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::masked<shape<batch, merged<heads, d_v>, key>, taken_mask<heads, key>>>);  // as a factor, too
static_assert(
    says<ERROR_R18_single_element_meets_its_whole_dimension, rule::position_biased<S<>, taken_mask<heads, seq, key>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::reduce_masked<op::mean, list<key>, S<>, taken_mask<seq, key>>>);
static_assert(gives<rule::masked<S<>, taken_mask<layers, key>>, S<masked_for<key>, indexed<layers>>>);
static_assert(gives<rule::masked<shape<heads, key, indexed<seq>>, taken_mask<seq, key>>,
                    shape<heads, key, masked_for<key>, indexed<seq>>>);
static_assert(gives<rule::position_biased<S<>, taken_mask<layers, seq, key>>, S<biased_for<key>, indexed<layers>>>);
static_assert(
    gives<rule::reduce_masked<op::mean, list<key>, S<>, taken_mask<layers, key>>, shape<heads, seq, indexed<layers>>>);

// R19: packed positions are masked by documents first; then other masks may follow.
using P = shape<packed_seq, packed_key, score<d_k>>;
using packed_causal = detail::mask_facts<list<packed_seq, packed_key>, list<packed_key>, false>;
static_assert(
    gives<rule::masked<P, document_facts>, shape<packed_seq, packed_key, score<d_k>, masked_for<packed_key>>>);
static_assert(std::is_same_v<rule::masked<P, packed_causal>,
                             ERROR_R19_packed_positions_need_their_documents<
                                 op::masked, lhs<packed_seq, packed_key, score<d_k>>,
                                 over<about<packed_seq, run_time>, about<packed_key, run_time>>>>);
static_assert(gives<rule::masked<shape<packed_seq, packed_key, masked_for<packed_key>>, packed_causal>,
                    shape<packed_seq, packed_key, masked_for<packed_key>>>);

// A bias may add parallel dimensions too, and says which softmax sees it: one over a dimension that it has.
static_assert(gives<rule::biased<S<score<d_k>>, shape<heads, key>>, S<score<d_k>, biased_for<key>>>);
static_assert(
    gives<rule::biased<shape<seq, key>, shape<heads, seq, key>>, shape<seq, key, heads, biased_for<key, seq>>>);
static_assert(gives<rule::biased<S<masked_for<key>>, shape<seq>>, S<masked_for<key>, biased_for<seq>>>);
static_assert(gives<rule::biased<S<biased_for<key>>, shape<seq, key>>, S<biased_for<key, seq>, biased_for<key>>>);
static_assert(gives<rule::biased<shape<seq, vocab>, shape<vocab>>, shape<seq, vocab, biased_for<vocab>>>);
static_assert(gives<rule::biased<shape<seq, experts>, shape<experts>>,
                    shape<seq, experts, biased_for<experts>>>);  // parallel and a choice
static_assert(gives<rule::biased<shape<seq, key>, shape<experts, key>>, shape<seq, key, experts, biased_for<key>>>);
//     What is the same for all alternatives is none.
static_assert(std::is_same_v<rule::biased<S<score<d_k>>, shape<heads>>,
                             ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over<
                                 op::biased, lhs<heads, seq, key, score<d_k>>, rhs<heads>>>);
static_assert(says<ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over, rule::biased<S<>, shape<>>>);
static_assert(says<ERROR_R7_mask_has_dimensions_that_the_scores_lack, rule::biased<shape<seq, key>, shape<experts>>>);
template <class Op, class D, class... M>
using over_one = rule::softmax<Op, list<D>, S<M...>>;
static_assert(
    std::is_same_v<over_one<op::softmax, key, biased_for<seq>>,
                   ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over<
                       op::softmax, over<about<key, run_time>>, operand_shape<heads, seq, key, biased_for<seq>>>>);
static_assert(
    says<ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over, over_one<op::log_softmax, key, biased_for<seq>>>);
static_assert(says<ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over,
                   over_one<op::softmax, key, biased_for<key>, biased_for<seq>>>);  // each of them
static_assert(gives<over_one<op::softmax, key, biased_for<key>, biased_for<key, seq>>, S<normalised<key>>>);
static_assert(gives<over_one<op::softmax, seq, biased_for<key, seq>>, S<normalised<seq>>>);  // slot attention
static_assert(gives<over_one<op::log_softmax, key, biased_for<key>>, S<log_normalised<key>>>);
static_assert(
    allowed<rule::softmax<op::softmax, list<merged<seq, key>>, shape<heads, merged<seq, key>, biased_for<key>>>>);
//     So is every mask, not one of them.
static_assert(
    says<ERROR_R7_mask_does_not_serve_this_dimension, over_one<op::softmax, key, masked_for<key>, masked_for<seq>>>);
//     Operations other than softmax see a shift, and end the mark.
static_assert(gives<rule::reduce<op::logsumexp, list<key>, S<biased_for<seq>>>, shape<heads, seq>>);
static_assert(gives<rule::reduce<op::argmax, list<key>, S<biased_for<seq>>>, shape<heads, seq>>);
static_assert(gives<rule::reduce<op::sum, list<key>, S<biased_for<seq>>>, shape<heads, seq>>);
static_assert(gives<rule::reduce<op::mean, list<heads>, S<biased_for<seq>>>, shape<seq, key>>);
static_assert(gives<rule::map<false, S<biased_for<seq>>>, S<>>);  // soft caps, whatever was added
static_assert(says<ERROR_R7_masked_values_are_given_to_a_function, rule::map<false, S<masked_for<key>>>>);
static_assert(gives<rule::renormalise<list<key>, S<biased_for<seq>>>, S<normalised<key>>>);
static_assert(gives<rule::contract<list<heads>, list<>, S<score<d_k>, biased_for<key>>, shape<heads, more_heads>>,
                    shape<seq, key, more_heads, score<d_k>>>);
static_assert(gives<rule::at<key, S<biased_for<key, seq>>>, shape<heads, seq, indexed<key>>>);
static_assert(gives<rule::at<heads, S<biased_for<key>>>, shape<seq, key, biased_for<key>, indexed<heads>>>);
static_assert(gives<rule::rename<seq, key, shape<heads, seq, biased_for<seq>>>, shape<heads, key, biased_for<key>>>);
//     What is added to scores and is none itself is a bias by another name.
template <class... D>
using plus = rule::added<S<score<d_k>>, shape<D...>>;
static_assert(gives<plus<seq>, S<score<d_k>, biased_for<seq>>> &&
              gives<plus<heads, seq, key>, S<score<d_k>, biased_for<key, seq>>>);
static_assert(gives<plus<heads>, S<score<d_k>, biased_for<heads>>> &&
              gives<plus<>, S<score<d_k>>>);  // no softmax sees it; sigmoid does
static_assert(gives<rule::added<shape<seq>, S<score<d_k>>>, S<score<d_k>, biased_for<seq>>>);
static_assert(gives<rule::added<S<raw<d_k>>, shape<heads, key>>, S<raw<d_k>, biased_for<key>>>);
static_assert(gives<plus<heads, seq, key, score<d_v>>, S<score<d_k>, score<d_v>>>);  // both are scores
static_assert(gives<rule::added<S<>, shape<seq>>, S<>>);                             // neither is
static_assert(gives<rule::added<S<score<d_k>>, shape<experts, heads, seq, key>>,
                    shape<experts, heads, seq, key, score<d_k>, biased_for<experts, key, seq>>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other, plus<batch>>);
//     A factor makes it vary along its own dimensions.
template <class... D>
using times = rule::multiplied<S<score<d_k>, biased_for<seq>>, shape<D...>>;
static_assert(gives<times<>, S<score<d_k>, biased_for<seq>>> && gives<times<heads>, S<score<d_k>, biased_for<seq>>>);
static_assert(gives<times<key>, S<score<d_k>, biased_for<key, seq>>>);
static_assert(gives<rule::multiplied<shape<key>, S<score<d_k>, biased_for<seq>>>, S<score<d_k>, biased_for<key, seq>>>);
static_assert(gives<rule::multiplied<S<score<d_k>>, shape<key>>, S<score<d_k>>>);
static_assert(std::is_same_v<rule::multiplied<S<biased_for<seq>>, shape<src>>,
                             ERROR_R8_neither_has_all_dimensions_of_the_other<
                                 op::elementwise, lhs<heads, seq, key, biased_for<seq>>, rhs<src>>>);
static_assert(gives<rule::scaled_by<S<raw<d_k>, biased_for<seq>>, shape<key>>, S<score<d_k>, biased_for<key, seq>>>);
static_assert(says<ERROR_R7_mask_has_dimensions_that_the_scores_lack, rule::biased<S<>, shape<seq, src>>>);
static_assert(says<ERROR_R4_composite_has_other_factors_or_order, rule::biased<S<>, shape<merged<heads, batch>>>>);
//     R6: neither side is raw; R5: nor are weights a bias.
static_assert(std::is_same_v<rule::biased<S<raw<d_k>>, shape<key>>,
                             ERROR_R6_raw_products_are_scaled_first<op::biased, lhs<heads, seq, key, raw<d_k>>,
                                                                    over<about<key, run_time>>>>);
static_assert(says<ERROR_R6_raw_products_are_scaled_first, rule::biased<S<>, S<raw<d_k>>>>);
static_assert(says<ERROR_R5_already_normalised, rule::biased<S<>, S<normalised<key>>>>);
static_assert(says<ERROR_R5_weighted_product_is_reduced_over_its_weights_only, rule::biased<S<>, S<weighted<key>>>>);
//     R7: the mark of a masked bias would be lost, so the scores are masked, not the bias. Two scores are both scores.
static_assert(std::is_same_v<rule::biased<S<score<d_k>>, S<masked_for<key>>>,
                             ERROR_R7_bias_is_masked_instead_of_the_scores<op::biased, lhs<heads, seq, key, score<d_k>>,
                                                                           rhs<heads, seq, key, masked_for<key>>>>);
static_assert(says<ERROR_R7_bias_is_masked_instead_of_the_scores,
                   rule::biased<S<masked_for<key>>, S<score<d_k>, masked_for<key>>>>);
static_assert(gives<rule::biased<S<score<d_k>, masked_for<key>>, S<score<d_v>>>,
                    S<score<d_k>, masked_for<key>, biased_for<key, seq>>>);
static_assert(says<ERROR_R7_bias_is_masked_instead_of_the_scores, plus<heads, seq, key, masked_for<key>>>);
static_assert(
    says<ERROR_R7_bias_is_masked_instead_of_the_scores, rule::added<S<masked_for<key>>, S<raw<d_k>, masked_for<key>>>>);
static_assert(
    gives<rule::added<S<score<d_k>>, S<score<d_v>, masked_for<key>>>, S<score<d_k>, score<d_v>, masked_for<key>>>);
static_assert(gives<rule::added<S<>, S<masked_for<key>>>, S<masked_for<key>>>);  // logits and their masked rest
static_assert(
    says<ERROR_R7_masked_values_are_given_to_a_function, rule::scaled_by<S<raw<d_k>>, shape<key, masked_for<key>>>>);
//     A bias made from positions names its key side.
static_assert(
    gives<rule::position_biased<S<masked_for<key, seq>>, causal_facts>, S<masked_for<key, seq>, biased_for<key>>>);
static_assert(gives<rule::position_biased<S<>, causal_facts>, S<biased_for<key>>>);
//     It hides nothing: over packed positions the mask of documents may come before or after (R19).
static_assert(
    gives<rule::position_biased<P, packed_causal>, shape<packed_seq, packed_key, score<d_k>, biased_for<packed_key>>>);
static_assert(
    says<ERROR_R19_packed_positions_need_their_documents,
         rule::softmax<op::softmax, list<packed_key>, shape<packed_seq, packed_key, biased_for<packed_key>>>>);

TEST_CASE("shape: the rules of masks and biases") {
  CHECK(allowed<rule::masked<S<>, causal_facts>>);
  CHECK(refused<rule::masked<S<normalised<key>>, causal_facts>>);
}

}  // namespace
}  // namespace shape_test
