// tests/mutation/loss.test.cpp -- what tools/mutate.py found untested in the rules of losses.
//
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"
#include <dimwise/shape/rules/loss.hpp>

#include <doctest/doctest.h>

namespace mutation_loss {

struct squares;  // the name of a loss

using namespace shape_test;
using elements = shape<batch, seq>;
template <class... Named>
using mean_of = rule::loss_of_pairs<squares, list<Named...>, elements, elements, false>;

// The dimensions of the mean: none, or all of the elements in any order.
static_assert(gives<mean_of<>, elements> && gives<mean_of<batch, seq>, elements> &&
              gives<mean_of<seq, batch>, elements>);
static_assert(says<ERROR_R22_mean_goes_over_the_elements_of_the_loss, mean_of<seq>>);
static_assert(says<ERROR_R22_mean_goes_over_the_elements_of_the_loss, mean_of<batch, seq, heads>>);
// A loss that is one number has no dimensions to name.
static_assert(says<ERROR_R22_mean_goes_over_the_elements_of_the_loss,
                   rule::loss_of_pairs<squares, list<seq>, shape<>, shape<>, false>>);

TEST_CASE("mutation: losses") { CHECK(allowed<mean_of<>>); }

}  // namespace mutation_loss
