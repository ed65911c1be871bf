// tests/shape/marks.test.cpp -- marks are a set in one canonical order, and one table says what operations do with
// them.
// SPDX-License-Identifier: BSL-1.0
#include "vocabulary.hpp"

#include <doctest/doctest.h>

namespace shape_test {
namespace {

template <class... M>
using canonical = typename detail::canonical_marks<list<M...>>::type;
template <class... M>
using marked = detail::make_shape_t<list<seq>, list<M...>>;

// One canonical order, by kind, then by name; without repetitions.
static_assert(std::is_same_v<canonical<>, list<>>);
static_assert(std::is_same_v<canonical<indexed<batch>, rotated<d_k, seq>, weighted<key>, normalised<key>,
                                       biased_for<key>, masked_for<key>, score<d_k>, raw<d_k>>,
                             list<raw<d_k>, score<d_k>, masked_for<key>, biased_for<key>, normalised<key>,
                                  weighted<key>, rotated<d_k, seq>, indexed<batch>>>);
static_assert(std::is_same_v<canonical<raw<d_v>, raw<d_k>>, list<raw<d_k>, raw<d_v>>>);
static_assert(std::is_same_v<canonical<raw<d_k>, raw<d_v>>, list<raw<d_k>, raw<d_v>>>);
static_assert(std::is_same_v<canonical<raw<d_k>, raw<d_k>>, list<raw<d_k>>>);
static_assert(std::is_same_v<canonical<raw<d_k>, normalised<key>, raw<d_k>>, list<raw<d_k>, normalised<key>>>);
static_assert(std::is_same_v<marked<normalised<key>, score<d_k>>, shape<seq, score<d_k>, normalised<key>>>);

// The dimensions inside of marks are one order, too, where they are a set.
static_assert(std::is_same_v<detail::sorted_t<list<seq, key, d_k>>, detail::sorted_t<list<d_k, seq, key>>>);
static_assert(std::is_same_v<detail::sorted_t<list<>>, list<>>);

// A shape's dimensions and marks are told apart.
static_assert(std::is_same_v<detail::dims_t<shape<batch, seq, score<d_k>, indexed<key>>>, list<batch, seq>>);
static_assert(
    std::is_same_v<detail::marks_t<shape<batch, seq, score<d_k>, indexed<key>>>, list<score<d_k>, indexed<key>>>);
static_assert(std::is_same_v<detail::dims_t<shape<batch>>, list<batch>>);
static_assert(std::is_same_v<detail::marks_t<shape<batch>>, list<>>);
static_assert(detail::is_mark<normalised<key>> && !detail::is_mark<key> && !detail::is_mark<merged<heads, d_k>>);

// What marks of one kind speak of.
static_assert(
    std::is_same_v<detail::marked_t<raw, list<raw<d_k>, score<d_v>, raw<d_v, d_model>>>, list<d_k, d_v, d_model>>);
static_assert(std::is_same_v<detail::marked_t<raw, list<>>, list<>>);
static_assert(std::is_same_v<detail::rename_in_mark<masked_for<seq, key>, key, src>::type, masked_for<seq, src>>);
static_assert(std::is_same_v<detail::mark_over<masked_for, list<key>>::type, list<masked_for<key>>>);
static_assert(std::is_same_v<detail::mark_over<masked_for, list<>>::type, list<>>);

// R17: a dimension occurs once, a product counted as its factors, a sum as itself.
static_assert(valid_shape<>);
static_assert(valid_shape<batch, seq, key, normalised<key>>);
static_assert(!valid_shape<d_model, d_model>);
static_assert(!valid_shape<heads, merged<heads, d_k>>);
static_assert(!valid_shape<merged<heads, d_v>, merged<heads, d_k>>);
static_assert(!valid_shape<merged<heads, heads>>);
static_assert(valid_shape<d_model, out<d_model>>);
static_assert(valid_shape<d_k, summed<d_k, d_v>>);
static_assert(!valid_shape<summed<d_k, d_k>>);
static_assert(!valid_shape<seq, merged<heads, summed<d_k, d_v, d_k>>>);
static_assert(valid_shape<seq, normalised<seq>, score<seq>>);

// The table: what each operation does with each mark.
template <class Op, class... M>
using kept = detail::kept_marks_t<Op, shape<seq, M...>>;
template <class Op, class... M>
inline constexpr bool refuses = detail::refuses_mark<Op, shape<seq, M...>>;

static_assert(std::is_same_v<kept<op::rename, raw<d_k>, normalised<key>, indexed<batch>>,
                             list<raw<d_k>, normalised<key>, indexed<batch>>>);
static_assert(std::is_same_v<kept<op::elementwise, score<d_k>, normalised<key>>, list<score<d_k>, weighted<key>>>);
static_assert(std::is_same_v<kept<op::plain, raw<d_k>, score<d_k>, masked_for<key>, normalised<key>, weighted<key>,
                                  rotated<d_k, seq>, indexed<batch>>,
                             list<>>);
static_assert(std::is_same_v<kept<op::softmax, score<d_k>, indexed<batch>>, list<indexed<batch>>>);
static_assert(std::is_same_v<kept<op::assign, score<d_k>, indexed<batch>>, list<score<d_k>>>);

static_assert(refuses<op::scaled, score<d_k>> && refuses<op::scaled, normalised<key>> &&
              refuses<op::scaled, weighted<key>> && !refuses<op::scaled, raw<d_k>>);
static_assert(refuses<op::unscaled, score<d_k>> && refuses<op::unscaled, normalised<key>> &&
              refuses<op::unscaled, weighted<key>>);
static_assert(refuses<op::softmax, raw<d_k>> && refuses<op::softmax, normalised<key>> &&
              refuses<op::softmax, weighted<key>> && !refuses<op::softmax, score<d_k>>);
static_assert(refuses<op::log_softmax, raw<d_k>> && refuses<op::log_softmax, normalised<key>> &&
              refuses<op::log_softmax, weighted<key>>);
static_assert(refuses<op::logsumexp, raw<d_k>> && refuses<op::logsumexp, normalised<key>> &&
              refuses<op::logsumexp, weighted<key>>);
static_assert(refuses<op::biased, raw<d_k>> && refuses<op::biased, normalised<key>> &&
              refuses<op::biased, weighted<key>>);
static_assert(refuses<op::masked, normalised<key>> && refuses<op::masked, weighted<key>> &&
              !refuses<op::masked, raw<d_k>>);
static_assert(refuses<op::renormalise, raw<d_k>> && refuses<op::renormalise, score<d_k>> &&
              refuses<op::renormalise, masked_for<key>>);
static_assert(!refuses<op::renormalise, normalised<key>> && !refuses<op::renormalise, weighted<key>>);
static_assert(refuses<op::contract, masked_for<key>> && refuses<op::scores, masked_for<key>> &&
              refuses<op::outer, masked_for<key>>);
static_assert(refuses<op::layer_norm, masked_for<key>> && refuses<op::rms_norm, masked_for<key>> &&
              refuses<op::standardize, masked_for<key>>);
static_assert(refuses<op::sort, masked_for<key>> && refuses<op::argsort, masked_for<key>>);
static_assert(std::is_same_v<kept<op::sort, score<d_k>, normalised<key>, rotated<d_k, seq>, indexed<batch>>,
                             list<score<d_k>, weighted<key>, indexed<batch>>>);
static_assert(std::is_same_v<kept<op::argsort, score<d_k>, normalised<key>, indexed<batch>>, list<indexed<batch>>>);
static_assert(refuses<op::cumsum, masked_for<key>> && refuses<op::cumprod, masked_for<key>> &&
              refuses<op::unroll, masked_for<key>> && refuses<op::pool, masked_for<key>> &&
              refuses<op::gather, masked_for<key>>);
static_assert(refuses<op::rotary, raw<d_k>> && refuses<op::rotary, score<d_k>> &&
              refuses<op::rotary, masked_for<key>> && refuses<op::rotary, normalised<key>> &&
              refuses<op::rotary, weighted<key>>);
static_assert(!refuses<op::norm, masked_for<key>> && !refuses<op::norm, raw<d_k>>);
static_assert(!refuses<op::prod, masked_for<key>> && !refuses<op::prod, weighted<key>>);
static_assert(!refuses<op::sum, masked_for<key>> && !refuses<op::mean, weighted<key>> &&
              !refuses<op::permute, raw<d_k>, masked_for<key>>);
// The first refused mark is the one that the error speaks of.
static_assert(
    std::is_same_v<detail::effects<op::softmax, list<score<d_v>, raw<d_k>, normalised<key>>>::refused, raw<d_k>>);
static_assert(std::is_void_v<detail::effects<op::softmax, list<score<d_v>>>::refused>);

// Logarithms of probabilities: log_softmax and `log` set the mark, `exp` turns it back, arithmetic ends it.
template <class... M>
using words = shape<batch, seq, vocab, M...>;
using log_p = words<log_normalised<vocab>>;
using p = words<normalised<vocab>>;
static_assert(gives<rule::softmax<op::log_softmax, list<vocab>, words<>>, log_p>);
static_assert(gives<rule::logarithm<p>, log_p> && gives<rule::exponential<log_p>, p>);
static_assert(gives<rule::logarithm<words<weighted<vocab>>>, words<weighted<vocab>>>);
static_assert(gives<rule::exponential<p>, words<weighted<vocab>>> && gives<rule::logarithm<log_p>, words<>>);
static_assert(gives<rule::exponential<words<masked_for<vocab>>>, words<>>);
static_assert(says<ERROR_R7_masked_values_are_given_to_a_function, rule::logarithm<words<masked_for<vocab>>>>);
static_assert(gives<rule::map<false, log_p>, words<>> && gives<rule::multiplied<log_p, shape<>>, words<>>);
static_assert(gives<rule::added<log_p, log_p>, words<>> && gives<rule::added<log_p, words<>>, words<>>);
static_assert(gives<rule::multiplied<p, log_p>, words<weighted<vocab>>>);
static_assert(says<ERROR_R5_log_probabilities_meet_probabilities, rule::added<log_p, p>> &&
              says<ERROR_R5_log_probabilities_meet_probabilities, rule::added<p, log_p>>);
template <class Op>
inline constexpr bool keeps_scales_apart =
    says<ERROR_R5_log_probabilities_meet_probabilities, rule::elementwise_by<Op, log_p, p>> &&
    says<ERROR_R5_log_probabilities_meet_probabilities, rule::elementwise_by<Op, p, shape<>, log_p>> &&
    allowed<rule::elementwise_by<Op, log_p, log_p>> && allowed<rule::elementwise_by<Op, log_p, words<>>>;
static_assert(keeps_scales_apart<op::compare> && keeps_scales_apart<op::where> && keeps_scales_apart<op::maximum> &&
              keeps_scales_apart<op::minimum> && keeps_scales_apart<op::clamp>);
static_assert(allowed<rule::elementwise_by<op::pow, p, log_p>>);
//     Names and order keep it; what takes a part of its dimension, or goes over it, ends it.
struct other_word : prime<vocab> {};
static_assert(gives<rule::rename<vocab, other_word, log_p>, shape<batch, seq, other_word, log_normalised<other_word>>>);
static_assert(gives<rule::permute<list<vocab, seq, batch>, log_p>, shape<vocab, seq, batch, log_normalised<vocab>>>);
static_assert(gives<rule::at<seq, log_p>, shape<batch, vocab, log_normalised<vocab>, indexed<seq>>>);
static_assert(gives<rule::at<vocab, log_p>, shape<batch, seq, indexed<vocab>>>);
static_assert(gives<rule::slice<seq, seq, shape<seq, key, log_normalised<key>>>, shape<seq, key, log_normalised<key>>>);
static_assert(gives<rule::slice<key, key, shape<seq, key, log_normalised<key>>>, shape<seq, key>>);
static_assert(gives<rule::diagonal<seq, key, shape<seq, key, log_normalised<key>>>, shape<seq>>);
static_assert(gives<rule::concat<key, shape<seq, key, log_normalised<key>>, shape<seq, key, log_normalised<key>>>,
                    shape<seq, key>>);
static_assert(gives<rule::reduce<op::sum, list<vocab>, log_p>, shape<batch, seq>>);
static_assert(gives<rule::reduce<op::mean, list<batch>, log_p>, shape<seq, vocab>>);
static_assert(gives<rule::softmax<op::softmax, list<vocab>, log_p>, p>);
static_assert(gives<rule::contract<list<batch>, list<>, log_p, shape<batch>>, shape<seq, vocab>>);
//     An element along it, or a row by a condition; ids that share it take elements of several distributions.
static_assert(gives<rule::gather<vocab, vocab, log_p, shape<batch, seq>>, shape<batch, seq>>);
static_assert(gives<rule::gather<seq, seq, log_p, shape<heads>>, shape<heads, batch, vocab, log_normalised<vocab>>>);
static_assert(gives<rule::gather<vocab, vocab, log_p, shape<vocab>>, shape<vocab, batch, seq>>);
static_assert(says<ERROR_R5_log_probabilities_are_taken_along_their_own_dimension,
                   rule::gather<vocab, vocab, words<log_normalised<seq>>, shape<batch, seq>>>);
static_assert(gives<rule::gather<vocab, vocab, words<log_normalised<seq>>, shape<batch>>,
                    shape<batch, seq, log_normalised<seq>>>);
//     A loss takes the logits.
static_assert(refuses<op::cross_entropy, log_normalised<vocab>> && refuses<op::kl_divergence, log_normalised<vocab>> &&
              refuses<op::binary_cross_entropy, log_normalised<vocab>> &&
              !refuses<op::mean_squared_error, log_normalised<vocab>>);
//     Alternatives are not chosen by weights over positions, whichever scale they have.
static_assert(says<ERROR_R5_alternatives_are_chosen_by_weights_over_positions,
                   rule::reduce<op::argmax, list<vocab>, words<normalised<seq>>>> &&
              says<ERROR_R5_alternatives_are_chosen_by_weights_over_positions,
                   rule::reduce<op::argmax, list<vocab>, words<log_normalised<seq>>>>);
static_assert(allowed<rule::reduce<op::argmax, list<vocab>, words<normalised<seq, vocab>>>> &&
              allowed<rule::reduce<op::argmax, list<seq>, words<normalised<seq>>>> &&
              allowed<rule::reduce<op::argmax, list<seq>, words<normalised<vocab>>>> &&
              allowed<rule::reduce<op::max, list<vocab>, words<normalised<seq>>>>);
//     A declared type says it.
static_assert(says<ERROR_R5_declared_type_drops_or_invents_normalised, rule::assign<words<>, log_p>> &&
              says<ERROR_R5_declared_type_drops_or_invents_normalised, rule::assign<log_p, words<>>> &&
              says<ERROR_R5_declared_type_drops_or_invents_normalised, rule::assign<log_p, p>> &&
              gives<rule::assign<log_p, log_p>, log_p>);

TEST_CASE("shape: marks and the table of marks") {
  CHECK(valid_shape<batch, seq>);
  CHECK(refuses<op::softmax, raw<d_k>>);
}

}  // namespace
}  // namespace shape_test
