// tests/mutation/marks.test.cpp -- what tests/mutation/mutate.py found untested in the table of marks.
//
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <doctest/doctest.h>

namespace mutation_marks {

using namespace shape_test;

// A mask ends in log_softmax, logsumexp and argmax.
static_assert(gives<rule::softmax<op::log_softmax, list<key>, shape<seq, key, masked_for<key>>>,
                    shape<seq, key, log_normalised<key>>>);
static_assert(gives<rule::reduce<op::argmax, list<key>, shape<seq, key, masked_for<key>>>, shape<seq>>);
static_assert(std::is_same_v<detail::kept_marks_t<op::logsumexp, shape<seq, key, masked_for<key>>>, list<>>);

// argmax is not a product, a score or a weight.
static_assert(gives<rule::reduce<op::argmax, list<key>, shape<seq, key, raw<d_k>>>, shape<seq>>);
static_assert(gives<rule::reduce<op::argmax, list<key>, shape<seq, key, score<d_k>>>, shape<seq>>);
static_assert(gives<rule::reduce<op::argmax, list<key>, shape<seq, key, weighted<key>>>, shape<seq>>);
static_assert(gives<rule::reduce<op::argmax, list<key>, shape<seq, key, normalised<key>>>, shape<seq>>);
static_assert(gives<rule::reduce<op::argmax, list<key>, shape<heads, seq, key, raw<d_k>>>, shape<heads, seq>>);

// Norms, running sums: what sums to one does so no more; what is masked stays out.
template <class Op, class... D>
using normed = rule::norm<Op, list<d_model>, shape<D...>>;
static_assert(gives<normed<op::layer_norm, vocab, d_model, normalised<vocab>>, shape<vocab, d_model, weighted<vocab>>>);
static_assert(gives<normed<op::rms_norm, vocab, d_model, normalised<vocab>>, shape<vocab, d_model, weighted<vocab>>>);
static_assert(
    gives<normed<op::standardize, vocab, d_model, normalised<vocab>>, shape<vocab, d_model, weighted<vocab>>>);
static_assert(gives<rule::cumsum<list<seq>, shape<seq, vocab, normalised<vocab>>>, shape<seq, vocab, weighted<vocab>>>);
static_assert(says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction,
                   normed<op::layer_norm, seq, d_model, masked_for<d_model>>>);
static_assert(
    says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, normed<op::rms_norm, seq, d_model, masked_for<d_model>>>);
static_assert(says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction,
                   normed<op::standardize, seq, d_model, masked_for<d_model>>>);
static_assert(
    says<ERROR_R7_masked_values_go_to_softmax_or_a_reduction, rule::cumsum<list<seq>, shape<seq, masked_for<seq>>>>);
static_assert(gives<rule::gather<vocab, vocab, shape<vocab, experts, normalised<experts>>, shape<seq>>,
                    shape<seq, experts, weighted<experts>>>);

TEST_CASE("mutation: marks") { CHECK(allowed<rule::reduce<op::argmax, list<key>, shape<seq, key, raw<d_k>>>>); }

}  // namespace mutation_marks
