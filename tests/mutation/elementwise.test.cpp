// tests/mutation/elementwise.test.cpp -- tests of elementwise rules that tests/mutation/mutate.py found missing.
//
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace mutation_elementwise {

using namespace shape_test;

// all_dims: the dimensions of the third operand count, and of a fourth.
static_assert(gives<rule::map<false, shape<seq>, shape<seq>, shape<seq, d_k>>, shape<seq, d_k>>);
static_assert(gives<rule::map<false, shape<seq>, shape<seq>, shape<seq>, shape<d_k, seq>>, shape<d_k, seq>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other,
                   rule::map<false, shape<seq, d_k>, shape<seq>, shape<vocab>>>);

// scaled(s, x): first whether s can be scaled at all, then whether x fits it.
static_assert(says<ERROR_R6_scores_are_already_scaled, rule::scaled_by<shape<seq, key, score<d_k>>, shape<vocab>>>);
static_assert(says<ERROR_R6_scaled_takes_raw_products, rule::scaled_by<shape<seq, key>, shape<key, indexed<seq>>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::scaled_by<shape<seq, key, raw<d_k>>, shape<key, indexed<seq>>>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other,
                   rule::scaled_by<shape<seq, key, raw<d_k>>, shape<seq, key, d_v>>>);
static_assert(
    gives<rule::scaled_by<shape<heads, seq, key, raw<d_k>>, shape<heads>>, shape<heads, seq, key, score<d_k>>>);

// What is chosen from: numbers aside, all are rotated alike; what refuses their dimensions refuses first.
using turned = shape<seq, d_k, rotated<d_k, seq>>;
using straight = shape<seq, d_k>;
static_assert(says<ERROR_R9_only_one_operand_is_rotated, rule::chosen<op::where, shape<>, turned, straight>>);
static_assert(says<ERROR_R9_only_one_operand_is_rotated, rule::chosen<op::where, straight, straight, turned>>);
static_assert(allowed<rule::chosen<op::where, shape<>, turned, turned>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other, rule::chosen<op::where, turned, shape<seq, d_v>>>);

TEST_CASE("mutation: element by element") {
  CHECK(allowed<rule::scaled_by<shape<heads, seq, key, raw<d_k>>, shape<heads>>>);
}

}  // namespace mutation_elementwise
