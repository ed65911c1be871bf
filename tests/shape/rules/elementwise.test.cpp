// tests/shape/rules/elementwise.test.cpp -- arithmetic by name, functions, and scales, each condition in both
// directions.
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace shape_test {
namespace {

using X = shape<batch, seq, d_model>;
using S = shape<heads, seq, key>;
template <class... T>
using marked_s = shape<heads, seq, key, T...>;

// R8: the smaller operand's dimensions are a subset of the larger's, whose order the result has; a tie goes left.
static_assert(gives<rule::elementwise<X, shape<d_model>>, X>);
static_assert(gives<rule::elementwise<shape<d_model>, X>, X>);
static_assert(gives<rule::elementwise<shape<d_model, seq>, shape<seq, d_model>>, shape<d_model, seq>>);
static_assert(gives<rule::elementwise<X, shape<>>, X>);
static_assert(gives<rule::elementwise<shape<>, shape<>>, shape<>>);
static_assert(std::is_same_v<rule::elementwise<shape<seq>, shape<key>>,
                             ERROR_R8_neither_has_all_dimensions_of_the_other<op::elementwise, lhs<seq>, rhs<key>>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other, rule::elementwise<X, shape<batch, src, d_model>>>);
//     An extent of 1 never stretches, and a composite is not its factors.
static_assert(
    says<ERROR_R8_neither_has_all_dimensions_of_the_other, rule::elementwise<X, shape<nothing_special, d_model>>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other,
                   rule::elementwise<shape<heads, d_v>, shape<merged<heads, d_v>>>>);
//     Of three operands one has all dimensions.
static_assert(gives<rule::map<false, shape<seq>, X, shape<batch>>, X>);
static_assert(gives<rule::map<false, shape<seq>>, shape<seq>>);
static_assert(
    says<ERROR_R8_neither_has_all_dimensions_of_the_other, rule::map<false, shape<seq>, shape<batch>, shape<d_model>>>);
static_assert(std::is_same_v<rule::map<false, shape<seq>, shape<key>, shape<seq>>,
                             ERROR_R8_neither_has_all_dimensions_of_the_other<op::map, operand_shape<seq>,
                                                                              operand_shape<key>, operand_shape<seq>>>);

// R18: what `at` removed does not meet its dimension, on either side; it stays where the dimension is absent.
static_assert(std::is_same_v<rule::elementwise<shape<seq, d_k>, shape<d_k, indexed<seq>>>,
                             ERROR_R18_single_element_meets_its_whole_dimension<op::elementwise, lhs<seq, d_k>,
                                                                                rhs<d_k, indexed<seq>>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::elementwise<shape<d_k, indexed<seq>>, shape<seq, d_k>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::map<true, shape<d_k>, shape<seq, d_k>, shape<d_k, indexed<seq>>>>);
static_assert(gives<rule::elementwise<shape<d_k, indexed<seq>>, shape<d_k>>, shape<d_k, indexed<seq>>>);

// The marks of all operands; weights become weighted, what is masked stays masked.
static_assert(gives<rule::elementwise<marked_s<raw<d_k>>, shape<key>>, marked_s<raw<d_k>>>);
static_assert(gives<rule::elementwise<marked_s<raw<d_k>>, marked_s<raw<d_v>>>, marked_s<raw<d_k>, raw<d_v>>>);
static_assert(gives<rule::elementwise<marked_s<raw<d_v>>, marked_s<raw<d_k>>>, marked_s<raw<d_k>, raw<d_v>>>);
static_assert(gives<rule::elementwise<marked_s<score<d_k>>, marked_s<score<d_k>>>, marked_s<score<d_k>>>);
static_assert(gives<rule::elementwise<marked_s<normalised<key>>, shape<>>, marked_s<weighted<key>>>);
static_assert(gives<rule::elementwise<marked_s<weighted<key>>, shape<>>, marked_s<weighted<key>>>);
static_assert(
    gives<rule::elementwise<marked_s<score<d_k>, masked_for<key>>, shape<>>, marked_s<score<d_k>, masked_for<key>>>);
static_assert(
    gives<rule::elementwise<shape<seq, d_k, rotated<d_k, seq>>, shape<>>, shape<seq, d_k, rotated<d_k, seq>>>);

// R7: masked values pass only functions that give 0 for what is masked, which end the mark.
static_assert(
    std::is_same_v<rule::map<false, shape<key, masked_for<key>>>,
                   ERROR_R7_masked_values_are_given_to_a_function<op::map, operand_shape<key, masked_for<key>>>>);
static_assert(
    says<ERROR_R7_masked_values_are_given_to_a_function, rule::map<false, shape<key>, shape<key, masked_for<key>>>>);
static_assert(gives<rule::map<true, shape<key, masked_for<key>>>, shape<key>>);
static_assert(gives<rule::map<false, shape<key, score<d_k>>>, shape<key, score<d_k>>>);
static_assert(gives<rule::map<false, shape<key, normalised<key>>>, shape<key, weighted<key>>>);

// Comparisons give true and false, which have no marks but `indexed`; masked values are not compared.
static_assert(gives<rule::elementwise_by<op::compare, X, shape<d_model>>, X>);
static_assert(gives<rule::elementwise_by<op::compare, marked_s<raw<d_k>>, marked_s<normalised<key>>>, S>);
static_assert(gives<rule::elementwise_by<op::compare, marked_s<weighted<key>>, marked_s<score<d_k>>>, S>);
static_assert(gives<rule::elementwise_by<op::compare, shape<d_k, rotated<d_k, seq>>, shape<d_k, indexed<seq>>>,
                    shape<d_k, indexed<seq>>>);
static_assert(std::is_same_v<rule::elementwise_by<op::compare, shape<seq>, shape<key>>,
                             ERROR_R8_neither_has_all_dimensions_of_the_other<op::compare, lhs<seq>, rhs<key>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::elementwise_by<op::compare, shape<seq, d_k>, shape<d_k, indexed<seq>>>>);
static_assert(says<ERROR_R7_masked_values_are_given_to_a_function,
                   rule::elementwise_by<op::compare, shape<key, masked_for<key>>, shape<>>>);
// What is chosen, bounded or raised keeps its marks; weights become weighted; masked values are refused.
template <class Op>
inline constexpr bool chooses_by_marks =
    gives<rule::elementwise_by<Op, X, shape<d_model>>, X> &&
    gives<rule::elementwise_by<Op, marked_s<raw<d_k>>, shape<key>>, marked_s<raw<d_k>>> &&
    gives<rule::elementwise_by<Op, marked_s<score<d_k>>, shape<>>, marked_s<score<d_k>>> &&
    gives<rule::elementwise_by<Op, marked_s<normalised<key>>, shape<>>, marked_s<weighted<key>>> &&
    says<ERROR_R7_masked_values_are_given_to_a_function,
         rule::elementwise_by<Op, shape<key, masked_for<key>>, shape<>>> &&
    says<ERROR_R8_neither_has_all_dimensions_of_the_other, rule::elementwise_by<Op, shape<seq>, shape<key>>> &&
    says<ERROR_R18_single_element_meets_its_whole_dimension,
         rule::elementwise_by<Op, shape<seq, d_k>, shape<d_k, indexed<seq>>>>;
static_assert(chooses_by_marks<op::where> && chooses_by_marks<op::maximum> && chooses_by_marks<op::minimum> &&
              chooses_by_marks<op::clamp> && chooses_by_marks<op::pow>);
//     `where` takes the order of what it chooses from, not that of its condition.
static_assert(gives<rule::elementwise_by<op::where, shape<seq, key>, shape<>, shape<key, seq>>, shape<seq, key>>);
static_assert(gives<rule::elementwise_by<op::where, shape<key>, shape<>, shape<key, seq>>, shape<key, seq>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other,
                   rule::elementwise_by<op::where, shape<key>, shape<>, shape<seq>>>);

// R6: scaled takes raw only, and names the features that were contracted.
static_assert(gives<rule::scaled<list<d_k>, marked_s<raw<d_k>>>, marked_s<score<d_k>>>);
static_assert(gives<rule::scaled<list<>, marked_s<raw<d_k>>>, marked_s<score<d_k>>>);
static_assert(std::is_same_v<rule::scaled<list<d_model>, marked_s<raw<d_k>>>,
                             ERROR_R6_scaled_names_the_contracted_features<op::scaled, over<about<d_model, extent<12>>>,
                                                                           operand_shape<heads, seq, key, raw<d_k>>>>);
static_assert(says<ERROR_R6_scaled_names_the_contracted_features, rule::scaled<list<d_k, d_v>, marked_s<raw<d_k>>>>);
static_assert(says<ERROR_R6_scaled_takes_raw_products, rule::scaled<list<d_k>, S>>);
static_assert(says<ERROR_R6_scaled_takes_raw_products, rule::scaled<list<>, S>>);
static_assert(says<ERROR_R6_scores_are_already_scaled, rule::scaled<list<d_k>, marked_s<score<d_k>>>>);
static_assert(says<ERROR_R6_scores_are_already_scaled, rule::scaled<list<d_k>, marked_s<raw<d_k>, score<d_v>>>>);
static_assert(says<ERROR_R5_already_normalised, rule::scaled<list<d_k>, marked_s<normalised<key>>>>);
static_assert(
    says<ERROR_R5_weighted_product_is_reduced_over_its_weights_only, rule::scaled<list<d_k>, marked_s<weighted<key>>>>);
static_assert(
    gives<rule::scaled<list<d_k>, marked_s<raw<d_k>, masked_for<key>>>, marked_s<score<d_k>, masked_for<key>>>);
//     A product over several features is scaled by all of them.
static_assert(gives<rule::scaled<list<d_k, d_v>, marked_s<raw<d_k, d_v>>>, marked_s<score<d_k, d_v>>>);
static_assert(says<ERROR_R6_scaled_names_the_contracted_features, rule::scaled<list<d_k>, marked_s<raw<d_k, d_v>>>>);
//     A sum of raw products ends together, by its parts.
static_assert(
    gives<rule::scaled<list<summed<d_k, d_v>>, marked_s<raw<d_k>, raw<d_v>>>, marked_s<score<d_k>, score<d_v>>>);
static_assert(
    gives<rule::scaled<list<summed<d_k, d_v>>, marked_s<raw<summed<d_k, d_v>>>>, marked_s<score<summed<d_k, d_v>>>>);
static_assert(
    says<ERROR_R6_scaled_names_the_contracted_features, rule::scaled<list<summed<d_k, d_v>>, marked_s<raw<d_k>>>>);
static_assert(
    says<ERROR_R6_scaled_names_the_contracted_features, rule::scaled<list<d_k>, marked_s<raw<d_k>, raw<d_v>>>>);

//     A scale of the user's own has dimensions of the product, and parallel ones that it adds.
static_assert(gives<rule::scaled_by<shape<seq, key, raw<d_k>>, shape<batch>>, shape<seq, key, batch, score<d_k>>>);
static_assert(gives<rule::scaled_by<shape<seq, key, raw<d_k>>, shape<batch, seq>>, shape<seq, key, batch, score<d_k>>>);
static_assert(
    gives<rule::scaled_by<shape<seq, key, raw<d_k>>, shape<heads, batch>>, shape<seq, key, heads, batch, score<d_k>>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other,
                   rule::scaled_by<shape<seq, key, raw<d_k>>, shape<batch, d_v>>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other,
                   rule::scaled_by<shape<seq, key, raw<d_k>>, shape<merged<batch, seq>>>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other,
                   rule::scaled_by<shape<seq, merged<batch, heads>, key, raw<d_k>>, shape<batch>>>);
static_assert(gives<rule::scaled_by<marked_s<raw<d_k>>, shape<heads>>, marked_s<score<d_k>>>);
static_assert(gives<rule::scaled_by<marked_s<raw<d_k>>, shape<>>, marked_s<score<d_k>>>);
static_assert(says<ERROR_R6_scores_are_already_scaled, rule::scaled_by<marked_s<score<d_k>>, shape<>>>);
static_assert(says<ERROR_R6_scaled_takes_raw_products, rule::scaled_by<S, shape<batch>>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other, rule::scaled_by<marked_s<raw<d_k>>, shape<d_v>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::scaled_by<marked_s<raw<d_k>>, shape<key, indexed<heads>>>>);

// R6: unscaled takes raw only.
static_assert(gives<rule::unscaled<marked_s<raw<d_k>>>, marked_s<score<d_k>>>);
static_assert(gives<rule::unscaled<marked_s<raw<d_k>, raw<d_v>>>, marked_s<score<d_k>, score<d_v>>>);
static_assert(says<ERROR_R6_scaled_takes_raw_products, rule::unscaled<S>>);
static_assert(says<ERROR_R6_scores_are_already_scaled, rule::unscaled<marked_s<score<d_k>>>>);
static_assert(says<ERROR_R5_already_normalised, rule::unscaled<marked_s<normalised<key>>>>);

TEST_CASE("shape: the rules of arithmetic, functions and scales") {
  CHECK(allowed<rule::elementwise<X, shape<d_model>>>);
  CHECK(refused<rule::elementwise<shape<seq>, shape<key>>>);
}

}  // namespace
}  // namespace shape_test
