// tests/mutation/loss.test.cpp -- what tests/mutation/mutate.py found untested in the rules of losses.
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

// A single element meets no other of its dimension, in a loss either (R18).
template <class Logits, class Ids, class Targets>
using loss_of_logits = rule::loss_of_alternatives<squares, vocab, list<>, Logits, Ids, Targets, false>;
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   rule::loss_of_pairs<squares, list<>, shape<batch, indexed<seq>>, elements, false>>);
static_assert(says<ERROR_R18_single_element_meets_its_whole_dimension,
                   loss_of_logits<shape<batch, seq, vocab>, vocab, shape<batch, indexed<seq>>>>);
static_assert(gives<loss_of_logits<shape<batch, seq, vocab>, vocab, shape<seq, batch>>, elements>);
static_assert(says<ERROR_R18_ids_index_their_own_dimension_only,
                   loss_of_logits<shape<batch, seq, vocab>, experts, shape<batch, seq>>>);
static_assert(
    says<ERROR_R22_targets_have_other_dimensions, loss_of_logits<shape<batch, seq, vocab>, vocab, shape<seq>>>);
// Targets that are distributions sum to one over V, where they say so.
static_assert(allowed<loss_of_logits<shape<seq, vocab>, detail::nothing, shape<seq, vocab, normalised<vocab>>>>);
static_assert(allowed<loss_of_logits<shape<seq, vocab>, detail::nothing, shape<seq, vocab>>>);
static_assert(says<ERROR_R22_targets_sum_to_one_over_another_dimension,
                   loss_of_logits<shape<seq, vocab>, detail::nothing, shape<seq, vocab, normalised<seq>>>>);
// Positions of several documents are meant together where it is said.
static_assert(says<ERROR_R19_mean_over_all_documents_says_so,
                   rule::loss_of_pairs<squares, list<>, shape<packed_seq>, shape<packed_seq>, false>>);
static_assert(allowed<rule::loss_of_pairs<squares, list<>, shape<packed_seq>, shape<packed_seq>, true>>);
// What is refused without its weights is refused for the same reason with them.
static_assert(std::is_same_v<rule::loss_weights<squares, mean_of<seq>, list<batch, seq>, shape<heads>>, mean_of<seq>>);
static_assert(says<ERROR_R22_weights_have_other_dimensions,
                   rule::loss_weights<squares, mean_of<>, list<batch, seq>, shape<heads>>>);

TEST_CASE("mutation: losses") { CHECK(allowed<mean_of<>>); }

}  // namespace mutation_loss
