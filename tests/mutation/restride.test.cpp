// tests/mutation/restride.test.cpp -- what tests/mutation/mutate.py found untested in the rules of names and order.
//
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace mutation_restride {

using namespace shape_test;

// `indexed<key>` ends where something is called key again (R18).
static_assert(gives<rule::rename<seq, key, shape<seq, d_v, indexed<key>>>, shape<key, d_v>>);
static_assert(gives<rule::rename<seq, key, shape<seq, d_v, indexed<src>>>, shape<key, d_v, indexed<src>>>);

// What was contracted over d_k stays so when another d_k is taken away.
static_assert(gives<rule::at<d_k, shape<seq, key, d_k, raw<d_k>>>, shape<seq, key, raw<d_k>, indexed<d_k>>>);
static_assert(gives<rule::at<d_k, shape<seq, key, d_k, score<d_k>>>, shape<seq, key, score<d_k>, indexed<d_k>>>);
static_assert(gives<rule::at<d_k, shape<seq, d_k, rotated<d_k, seq>>>, shape<seq, indexed<d_k>>>);

// A part loses the rotations of the others, and nothing else that is said of them.
static_assert(gives<rule::part<d_v, shape<seq, summed<d_k, d_v>, score<d_k>>>, shape<seq, d_v, score<d_k>>>);

TEST_CASE("mutation: names and order") { CHECK(allowed<rule::at<d_k, shape<seq, d_k>>>); }

}  // namespace mutation_restride
