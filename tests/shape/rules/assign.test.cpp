// tests/shape/rules/assign.test.cpp -- the declared type and the expression: the same dimensions and the same marks.
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace shape_test {
namespace {

using X = shape<batch, seq, d_model>;
template <class... M>
using S = shape<heads, seq, key, M...>;

// The order may differ: meaning goes by name.
static_assert(gives<rule::assign<X, X>, X>);
static_assert(gives<rule::assign<X, shape<d_model, batch, seq>>, X>);
static_assert(gives<rule::assign<shape<>, shape<>>, shape<>>);

// R3: other dimensions.
static_assert(std::is_same_v<rule::assign<X, shape<batch, src, d_model>>,
                             ERROR_R3_assigned_dimensions_differ<op::assign, declared<batch, seq, d_model>,
                                                                 computed<batch, src, d_model>>>);
static_assert(says<ERROR_R3_assigned_dimensions_differ, rule::assign<shape<seq>, shape<seq, heads>>>);
static_assert(says<ERROR_R3_assigned_dimensions_differ, rule::assign<shape<d_model>, shape<out<d_model>>>>);

// R8: assignment never broadcasts.
static_assert(
    std::is_same_v<rule::assign<X, shape<d_model>>,
                   ERROR_R8_assignment_never_broadcasts<op::assign, declared<batch, seq, d_model>, computed<d_model>>>);
static_assert(says<ERROR_R8_assignment_never_broadcasts, rule::assign<X, shape<>>>);

// R4: a merged dimension is not the model dimension, nor another order, nor its factors; the same composite is.
static_assert(std::is_same_v<rule::assign<X, shape<batch, seq, merged<heads, d_k>>>,
                             ERROR_R4_composite_is_not_the_declared_dimension<
                                 op::assign, declared<batch, seq, d_model>, computed<batch, seq, merged<heads, d_k>>>>);
static_assert(says<ERROR_R4_composite_is_not_the_declared_dimension,
                   rule::assign<shape<merged<heads, d_k>>, shape<merged<d_k, heads>>>>);
static_assert(
    says<ERROR_R4_composite_is_not_the_declared_dimension, rule::assign<shape<heads, d_k>, shape<merged<heads, d_k>>>>);
static_assert(
    says<ERROR_R4_composite_is_not_the_declared_dimension, rule::assign<shape<merged<heads, d_k>>, shape<d_model>>>);
static_assert(says<ERROR_R4_composite_is_not_the_declared_dimension, rule::assign<shape<merged<heads, d_k>>, shape<>>>);
static_assert(allowed<rule::assign<shape<seq, merged<heads, d_k>>, shape<merged<heads, d_k>, seq>>>);
static_assert(says<ERROR_R3_assigned_dimensions_differ,
                   rule::assign<shape<seq, merged<heads, d_k>>, shape<merged<heads, d_k>, key>>>);

// A declared type neither drops nor invents a mark; each mark has its rule.
static_assert(gives<rule::assign<S<normalised<key>>, S<normalised<key>>>, S<normalised<key>>>);
static_assert(std::is_same_v<rule::assign<S<>, S<normalised<key>>>,
                             ERROR_R5_declared_type_drops_or_invents_normalised<
                                 op::assign, declared<heads, seq, key>, computed<heads, seq, key, normalised<key>>>>);
static_assert(says<ERROR_R5_declared_type_drops_or_invents_normalised, rule::assign<S<normalised<key>>, S<>>>);
static_assert(
    says<ERROR_R5_declared_type_drops_or_invents_normalised, rule::assign<S<normalised<key>>, S<normalised<seq>>>>);
static_assert(says<ERROR_R5_declared_type_drops_or_invents_normalised, rule::assign<S<>, S<weighted<key>>>>);
static_assert(
    says<ERROR_R5_declared_type_drops_or_invents_normalised, rule::assign<S<normalised<key>>, S<weighted<key>>>>);
static_assert(says<ERROR_R6_declared_type_drops_or_invents_raw_or_score, rule::assign<S<>, S<raw<d_k>>>>);
static_assert(says<ERROR_R6_declared_type_drops_or_invents_raw_or_score, rule::assign<S<raw<d_k>>, S<>>>);
static_assert(says<ERROR_R6_declared_type_drops_or_invents_raw_or_score, rule::assign<S<>, S<score<d_k>>>>);
static_assert(says<ERROR_R6_declared_type_drops_or_invents_raw_or_score, rule::assign<S<score<d_k>>, S<raw<d_k>>>>);
static_assert(says<ERROR_R7_declared_type_drops_or_invents_masked, rule::assign<S<>, S<masked_for<key>>>>);
static_assert(says<ERROR_R7_declared_type_drops_or_invents_masked, rule::assign<S<masked_for<key>>, S<>>>);
static_assert(
    says<ERROR_R7_declared_type_drops_or_invents_masked, rule::assign<S<masked_for<key>>, S<masked_for<seq>>>>);
static_assert(says<ERROR_R7_declared_type_drops_or_invents_biased, rule::assign<S<>, S<biased_for<key>>>>);
static_assert(says<ERROR_R7_declared_type_drops_or_invents_biased, rule::assign<S<biased_for<key>>, S<>>>);
static_assert(
    says<ERROR_R7_declared_type_drops_or_invents_biased, rule::assign<S<biased_for<key>>, S<biased_for<key, seq>>>>);
//     The dimensions of a mark have no order, and users write them in theirs.
static_assert(allowed<rule::assign<S<biased_for<seq, key>>, S<biased_for<key, seq>>>> &&
              allowed<rule::assign<S<biased_for<key, seq>>, S<biased_for<seq, key>>>>);
static_assert(allowed<rule::assign<S<masked_for<seq, key>>, S<masked_for<key, seq>>>>);
static_assert(says<ERROR_R9_declared_type_drops_or_invents_rotated,
                   rule::assign<shape<seq, d_k>, shape<seq, d_k, rotated<d_k, seq>>>>);
static_assert(says<ERROR_R9_declared_type_drops_or_invents_rotated,
                   rule::assign<shape<seq, d_k, rotated<d_k, seq>>, shape<seq, d_k>>>);
//     Only `indexed` ends when stored.
static_assert(gives<rule::assign<shape<d_k>, shape<d_k, indexed<seq>>>, shape<d_k>>);
static_assert(
    gives<rule::assign<shape<key, score<d_k>>, shape<key, score<d_k>, indexed<seq>>>, shape<key, score<d_k>>>);
//     Other dimensions are said before other marks.
static_assert(says<ERROR_R3_assigned_dimensions_differ, rule::assign<shape<seq>, shape<key, normalised<key>>>>);

TEST_CASE("shape: the rules of assignment") {
  CHECK(allowed<rule::assign<X, X>>);
  CHECK(refused<rule::assign<X, shape<d_model>>>);
}

}  // namespace
}  // namespace shape_test
