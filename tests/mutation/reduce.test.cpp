// tests/mutation/reduce.test.cpp -- what tests/mutation/mutate.py found untested in the rules of reductions and norms.
//
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace mutation_reduce {

using namespace shape_test;

template <class Op, class Over, class... D>
using reduced = rule::reduce<Op, list<Over>, shape<D...>>;

// A statistic of scores is not a score; over heads, scores stay scores.
static_assert(gives<reduced<op::sum, key, heads, seq, key, score<d_k>>, shape<heads, seq>>);
static_assert(gives<reduced<op::mean, key, heads, seq, key, raw<d_k>>, shape<heads, seq>>);
static_assert(gives<reduced<op::sum, heads, heads, seq, key, score<d_k>>, shape<seq, key, score<d_k>>>);
static_assert(gives<reduced<op::max, heads, heads, seq, key, raw<d_k>>, shape<seq, key, raw<d_k>>>);

// First whether the norm takes the dimension, then whether the weights fit.
static_assert(says<ERROR_R13_norm_takes_features,
                   rule::norm_with<op::layer_norm, list<seq>, shape<seq, d_model>, shape<vocab>, shape<seq>>>);
static_assert(
    says<ERROR_R13_norm_takes_features,
         rule::norm_with<op::layer_norm, list<seq>, shape<seq, d_model>, shape<d_model, indexed<seq>>, shape<seq>>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other,
                   rule::norm_with<op::layer_norm, list<d_model>, shape<seq, d_model>, shape<vocab>, shape<seq>>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::norm_with<op::layer_norm, list<d_model>, shape<seq, d_model>, shape<d_model, indexed<seq>>,
                                   shape<d_model>>>);
static_assert(gives<rule::norm_with<op::layer_norm, list<d_model>, shape<seq, d_model>, shape<d_model>, shape<d_model>>,
                    shape<seq, d_model>>);

// Weighted values are summed over their dimension: their mean would be divided twice (R5).
static_assert(says<ERROR_R5_mean_divides_weights_that_already_sum_to_one,
                   rule::reduce<op::mean, list<key>, shape<seq, key, weighted<key>>>>);
static_assert(gives<rule::reduce<op::sum, list<key>, shape<seq, key, weighted<key>>>, shape<seq>>);
static_assert(gives<rule::reduce<op::max, list<key>, shape<seq, key, weighted<key>>>, shape<seq>>);
static_assert(
    gives<rule::reduce<op::mean, list<heads>, shape<heads, seq, key, weighted<key>>>, shape<seq, key, weighted<key>>>);

TEST_CASE("mutation: reductions") { CHECK(allowed<reduced<op::sum, key, seq, key>>); }

}  // namespace mutation_reduce
