// tests/mutation/masks.test.cpp -- what tools/mutate.py found untested in the masks' constructors.
//
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"

#include <dimwise/dimwise.hpp>

#include <doctest/doctest.h>

namespace mutation_masks {

using namespace shape_test;

// A mask is what says of itself that it is one.
static_assert(mask<causal<seq, key>> && mask<padding_mask<key, tensor<int, batch>>>);
static_assert(!mask<tensor<bool, seq, key>> && !mask<int> && !mask<block_mask<tensor<bool, seq, key>>>);

template <class M, class... From>
inline constexpr bool made = std::is_constructible_v<M, From...>;
using number = std::ptrdiff_t;
struct four : position_dim<4> {};
struct five_keys : prime<four, 5> {};
struct more_batch : prime<batch> {};
struct other_packed : packed_dim<> {};
struct plain_key : prime<packed_seq, 3> {};

static_assert(mask<decltype(causal<seq, key>{} & padding<key>(3))> && mask<decltype(causal<seq, key>{} | padding<key>(3))> && mask<decltype(!causal<seq, key>{})>);

// R7, R13: positions that are compared are ordered, and related, of one extent, or given with their origins.
static_assert(made<causal<seq, key>> && made<causal<key, seq>> && made<causal<packed_seq, packed_key>>);
static_assert(!made<causal<seq, src>> && !made<causal<four, five_keys>> && !made<causal<batch, more_batch>>);
static_assert(made<causal<seq, src>, seq, src> && made<causal<four, five_keys>, four, five_keys>);
static_assert(!made<causal<batch, seq>, batch, seq> && !made<causal<seq, batch>, seq, batch> && !made<causal<batch, more_batch>, batch, more_batch>);
static_assert(made<window<seq, key>, number, number> && !made<window<seq, src>, number, number> && !made<window<four, five_keys>, number, number>);
static_assert(!made<window<batch, more_batch>, number, number> && made<window<seq, src>, number, number, seq, src>);
static_assert(!made<window<batch, seq>, number, number, batch, seq> && !made<window<seq, batch>, number, number, seq, batch>);
static_assert(made<prefix<seq, key>, number> && !made<prefix<seq, src>, number> && !made<prefix<four, five_keys>, number> && !made<prefix<batch, more_batch>, number>);

// R19: a prefix is that of one sequence.
static_assert(!made<prefix<packed_seq, packed_key>, number>);
// R19: documents are those of two packed dimensions that belong together.
static_assert(made<document<packed_seq, packed_key>> && !made<document<packed_seq, other_packed>>);
static_assert(!made<document<seq, key>> && !made<document<packed_seq, seq>> && !made<document<seq, packed_seq>>);

// R7: biases made from positions, likewise, over heads or other parallel dimensions.
static_assert(made<alibi<seq, key, heads>> && !made<alibi<seq, src, heads>> && !made<alibi<batch, more_batch, heads>> && !made<alibi<seq, key, d_k>>);
static_assert(made<alibi<seq, src, heads>, seq, src> && !made<alibi<seq, src, d_k>, seq, src>);

// R7: lengths are whole numbers of parallel dimensions, `allow` and `block` take bool.
template <class T>
concept gives_lengths = requires(const T& lengths) { padding<key>(lengths).lengths(); };
static_assert(gives_lengths<tensor<int, batch>> && gives_lengths<tensor<long, batch, heads>> && gives_lengths<int>);
static_assert(!gives_lengths<tensor<float, batch>> && !gives_lengths<tensor<bool, batch>> && !gives_lengths<tensor<int, seq>>);

// R15: an indicator is told the extents that its mask does not bring along.
template <class M, class... D>
concept indicates = requires(const M& m, const D&... d) { indicator(m, d...).extents(); };
static_assert(indicates<causal<seq, key>, seq, key> && !indicates<causal<seq, key>, seq> && !indicates<causal<seq, key>>);
static_assert(indicates<padding_mask<key, tensor<int, batch>>, key> && !indicates<padding_mask<key, tensor<int, batch>>>);
static_assert(indicates<given_mask<tensor<bool, seq, key>>>);

TEST_CASE("mutation: masks") { CHECK(mask<causal<seq, key>>); }

}  // namespace mutation_masks
