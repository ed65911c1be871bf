// tests/mutation/shape.test.cpp -- what a valid shape is, each condition (R17).
//
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace mutation_shape {

using namespace shape_test;

static_assert(valid_shape<> && valid_shape<seq, key> && valid_shape<merged<heads, d_k>, seq> &&
              valid_shape<seq, normalised<seq>>);
static_assert(!valid_shape<int> && !valid_shape<seq, int>);  // dimensions are dimensions
static_assert(!valid_shape<seq, seq> &&
              !valid_shape<merged<seq, heads>, heads>);  // each once, a product as its factors

TEST_CASE("mutation: shapes") { CHECK(valid_shape<seq, key>); }

}  // namespace mutation_shape
