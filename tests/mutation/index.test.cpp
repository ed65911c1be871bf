// tests/mutation/index.test.cpp -- what tests/mutation/mutate.py found untested in the rules of taking and joining.
//
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace mutation_index {

using namespace shape_test;

struct rot : feature_dim<4> {};
struct pass : feature_dim<8> {};
struct other : feature_dim<8> {};

// `concat` along a composite is refused as such (R4), before its extent is looked at (R10).
static_assert(says<ERROR_R4_composite_has_other_factors_or_order,
                   rule::concat<merged<heads, d_v>, shape<seq, merged<heads, d_v>>, shape<seq, merged<heads, d_v>>>>);

// own_rotation: one part may be rotated where the others pass through, and no other mark may differ (R9, R10, R14).
static_assert(gives<rule::concat<summed<rot, pass>, shape<seq, rot, rotated<rot, seq>>, shape<seq, pass>>,
                    shape<seq, summed<rot, pass>, rotated<rot, seq>>>);
static_assert(gives<rule::concat<summed<pass, rot>, shape<seq, pass>, shape<seq, rot, rotated<rot, seq>>>,
                    shape<seq, summed<pass, rot>, rotated<rot, seq>>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension,
                   rule::concat<summed<rot, pass>, shape<seq, rot, rotated<other, seq>>, shape<seq, pass>>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension,
                   rule::concat<summed<rot, pass>, shape<seq, rot, weighted<rot>>, shape<seq, pass>>>);

// Each operand has its part, the first one, too (R1).
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand,
                   rule::concat<summed<rot, pass>, shape<seq, other>, shape<seq, pass>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand,
                   rule::concat<summed<rot, pass>, shape<seq, rot>, shape<seq, other>>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension, rule::concat<summed<rot, pass>, shape<seq, rot>>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension,
                   rule::concat<summed<rot, pass>, shape<seq, rot>, shape<seq, pass>, shape<seq, pass>>>);

// The id of a product is split before it indexes (R18).
static_assert(says<ERROR_R18_ids_of_a_composite_are_split_first,
                   rule::gather<merged<heads, rot>, merged<heads, rot>, shape<merged<heads, rot>, d_v>, shape<seq>>>);

// Ids of which one element was taken do not meet the dimension in the table; else the result is one element, too (R18).
static_assert(gives<rule::gather<vocab, vocab, shape<vocab, d_model>, shape<batch, indexed<seq>>>,
                    shape<batch, d_model, indexed<seq>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::gather<vocab, vocab, shape<vocab, seq>, shape<batch, indexed<seq>>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::gather<vocab, vocab, shape<vocab, indexed<seq>>, shape<batch, seq>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::gather<vocab, vocab, shape<vocab, merged<heads, d_v>>, shape<batch, indexed<heads>>>>);
// A factor is the dimension, too; `broadcast_like` into the product ends the mark.
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::elementwise<shape<seq, merged<heads, d_v>>, shape<seq, indexed<heads>>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::contract<list<d_v>, list<>, shape<merged<heads, seq>, d_v>, shape<d_v, indexed<heads>>>>);
static_assert(gives<rule::broadcast_like<shape<seq, indexed<heads>>, shape<seq, merged<heads, d_v>>>,
                    shape<seq, merged<heads, d_v>>>);
static_assert(
    gives<rule::elementwise<shape<seq, indexed<heads>>, shape<seq, indexed<heads>>>, shape<seq, indexed<heads>>>);

// Parts of one stack are masked for one softmax.
static_assert(says<ERROR_R10_operands_differ_in_another_dimension,
                   rule::stack<layers, shape<seq, key, score<d_k>, masked_for<key>>,
                               shape<seq, key, score<d_k>, masked_for<seq>>>>);
static_assert(allowed<rule::stack<layers, shape<seq, key, score<d_k>, masked_for<key>>,
                                  shape<seq, key, score<d_k>, masked_for<key>>>>);

TEST_CASE("mutation: taking and joining") { CHECK(refused<rule::concat<summed<rot, pass>, shape<seq, rot>>>); }

}  // namespace mutation_index
