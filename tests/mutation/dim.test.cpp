// tests/mutation/dim.test.cpp -- what tests/mutation/mutate.py found untested about dimensions.
//
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace mutation_dim {

using namespace shape_test;

struct no_kind {
  static constexpr extent_t static_extent = 6;
};
struct no_dimension {
  using prime_of = seq;
};
struct prime_of_none : position_dim<> {
  using prime_of = no_kind;
};

// Both are dimensions.
static_assert(divisible<d_model, heads> && !divisible<no_kind, heads> && !divisible<d_model, no_kind>);
static_assert(related_dimensions<seq, key> && !related_dimensions<no_dimension, seq> &&
              !related_dimensions<prime_of_none, no_kind>);
// An extent that is known when the program runs divides and is divided, whatever the other is.
static_assert(divisible<d_ff, group_of> && divisible<d_ff, heads> && divisible<d_v, batch> && divisible<d_ff, d_ff>);

TEST_CASE("mutation: dimensions") { CHECK(divisible<d_ff, group_of>); }

}  // namespace mutation_dim
