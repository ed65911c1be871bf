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
static_assert(refuses<op::scan, masked_for<key>> && refuses<op::unroll, masked_for<key>> &&
              refuses<op::pool, masked_for<key>> && refuses<op::gather, masked_for<key>>);
static_assert(refuses<op::rotary, raw<d_k>> && refuses<op::rotary, score<d_k>> &&
              refuses<op::rotary, masked_for<key>> && refuses<op::rotary, normalised<key>> &&
              refuses<op::rotary, weighted<key>>);
static_assert(!refuses<op::sum, masked_for<key>> && !refuses<op::mean, weighted<key>> &&
              !refuses<op::permute, raw<d_k>, masked_for<key>>);
// The first refused mark is the one that the error speaks of.
static_assert(
    std::is_same_v<detail::effects<op::softmax, list<score<d_v>, raw<d_k>, normalised<key>>>::refused, raw<d_k>>);
static_assert(std::is_void_v<detail::effects<op::softmax, list<score<d_v>>>::refused>);

TEST_CASE("shape: marks and the table of marks") {
  CHECK(valid_shape<batch, seq>);
  CHECK(refuses<op::softmax, raw<d_k>>);
}

}  // namespace
}  // namespace shape_test
