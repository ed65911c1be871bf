// tests/mutation/masks.test.cpp -- what tests/mutation/mutate.py found untested in the masks' constructors.
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

static_assert(mask<decltype(causal<seq, key>{} & padding<key>(3))> &&
              mask<decltype(causal<seq, key>{} | padding<key>(3))> && mask<decltype(!causal<seq, key>{})>);

// R7, R13: positions that are compared are ordered, and related, of one extent, or given with their origins.
static_assert(made<causal<seq, key>> && made<causal<key, seq>> && made<causal<packed_seq, packed_key>>);
static_assert(!made<causal<seq, src>> && !made<causal<four, five_keys>> && !made<causal<batch, more_batch>>);
static_assert(made<causal<seq, src>, seq, src> && made<causal<four, five_keys>, four, five_keys>);
static_assert(!made<causal<batch, seq>, batch, seq> && !made<causal<seq, batch>, seq, batch> &&
              !made<causal<batch, more_batch>, batch, more_batch>);
static_assert(made<window<seq, key>, number, number> && !made<window<seq, src>, number, number> &&
              !made<window<four, five_keys>, number, number>);
static_assert(!made<window<batch, more_batch>, number, number> && made<window<seq, src>, number, number, seq, src>);
static_assert(!made<window<batch, seq>, number, number, batch, seq> &&
              !made<window<seq, batch>, number, number, seq, batch>);
static_assert(made<prefix<seq, key>, number> && !made<prefix<seq, src>, number> &&
              !made<prefix<four, five_keys>, number> && !made<prefix<batch, more_batch>, number>);

// R19: a prefix is that of one sequence.
static_assert(!made<prefix<packed_seq, packed_key>, number>);
// R19: documents are those of two packed dimensions that belong together.
static_assert(made<document<packed_seq, packed_key>> && !made<document<packed_seq, other_packed>>);
static_assert(!made<document<seq, key>> && !made<document<packed_seq, seq>> && !made<document<seq, packed_seq>>);

// R7: biases made from positions, likewise, over heads or other parallel dimensions.
static_assert(made<alibi<seq, key, heads>> && !made<alibi<seq, src, heads>> && !made<alibi<batch, more_batch, heads>> &&
              !made<alibi<seq, key, d_k>>);
static_assert(made<alibi<seq, src, heads>, seq, src> && !made<alibi<seq, src, d_k>, seq, src>);

// R7: lengths are whole numbers of parallel dimensions, `allow` and `block` take bool.
template <class T>
concept gives_lengths = requires(const T& lengths) { padding<key>(lengths).lengths(); };
static_assert(gives_lengths<tensor<int, batch>> && gives_lengths<tensor<long, batch, heads>> && gives_lengths<int>);
static_assert(!gives_lengths<tensor<float, batch>> && !gives_lengths<tensor<bool, batch>> &&
              !gives_lengths<tensor<int, seq>>);

// R15: an indicator is told the extents that its mask does not bring along.
template <class M, class... D>
concept indicates = requires(const M& m, const D&... d) { indicator(m, d...).extents(); };
static_assert(indicates<causal<seq, key>, seq, key> && !indicates<causal<seq, key>, seq> &&
              !indicates<causal<seq, key>>);
static_assert(indicates<padding_mask<key, tensor<int, batch>>, key> &&
              !indicates<padding_mask<key, tensor<int, batch>>>);
static_assert(indicates<given_mask<tensor<bool, seq, key>>>);

// R18: what `at` took is known of whatever it comes in as: elements of masks, lengths, tables, scales, sinks.
template <class X>
using one_of_seq = decltype(at<seq>(std::declval<X>(), 0));
using taken_elements = given_mask<one_of_seq<tensor<bool, seq, key>>>;
using taken_lengths = padding_mask<key, one_of_seq<tensor<int, seq, batch>>>;
static_assert(std::is_same_v<taken_elements::facts::taken, list<seq>> &&
              std::is_same_v<taken_lengths::facts::taken, list<seq>>);
static_assert(std::is_same_v<decltype(!std::declval<taken_elements>())::facts::taken, list<seq>>);
static_assert(std::is_same_v<decltype(std::declval<taken_elements>() & padding<key>(3))::facts::taken, list<seq>>);
static_assert(std::is_same_v<decltype(padding<key>(3) | std::declval<taken_elements>())::facts::taken, list<seq>>);
static_assert(std::is_same_v<decltype(relative_bias<seq, key, heads>(at<layers>(
                                 std::declval<tensor<float, layers, heads, batch>>(), 0)))::bias_facts::taken,
                             list<layers>>);
static_assert(
    std::is_same_v<decltype(indicator(std::declval<taken_elements>()))::shape_type, shape<key, indexed<seq>>>);
template <class A, class B>
concept together = requires(const A& a, const B& b) { (a & b).left(), (a | b).left(); };
static_assert(!together<taken_elements, causal<seq, key>> &&
              together<taken_elements, padding_mask<key, tensor<int, batch>>> &&
              together<taken_elements, taken_lengths>);
static_assert(!together<causal<seq, key>, padding_mask<src, tensor<int, batch>>> &&
              !together<padding_mask<src, tensor<int, batch>>, causal<seq, key>>);
template <class S, class M>
concept masks = requires(const S& s, const M& m) { masked(s, m).extents(); };
static_assert(!masks<tensor<float, seq, key>, taken_elements> &&
              masks<one_of_seq<tensor<float, seq, key>>, taken_elements>);
static_assert(!masks<tensor<float, batch, seq, key>, taken_lengths>);
template <class X, class Scale>
concept scales = requires(const X& x, const Scale& s) { dequantised(x, s).extents(); };
using bytes = tensor<std::int8_t, seq, d_k>;
static_assert(scales<bytes, tensor<float>> && scales<bytes, tensor<float, seq>> &&
              !scales<bytes, tensor<float, batch>> && !scales<bytes, tensor<double>>);
static_assert(!scales<bytes, one_of_seq<tensor<float, seq>>> &&
              scales<one_of_seq<bytes>, one_of_seq<tensor<float, seq>>>);
static_assert(
    std::is_same_v<decltype(dequantised(std::declval<one_of_seq<bytes>>(), std::declval<tensor<float>>()))::shape_type,
                   shape<d_k, indexed<seq>>>);
static_assert(std::is_same_v<decltype(dequantised(std::declval<tensor<std::int8_t, d_k>>(),
                                                  std::declval<one_of_seq<tensor<float, seq>>>()))::shape_type,
                             shape<d_k, indexed<seq>>>);
using nibbles = tensor<int4_pair, seq, half<d_k>>;
template <class Scale>
concept scales_nibbles = requires(const nibbles& x, const Scale& s) { dequantised<d_k>(x, s).extents(); };
static_assert(scales_nibbles<tensor<float, seq>> && !scales_nibbles<tensor<float, batch>> &&
              !scales_nibbles<one_of_seq<tensor<float, seq>>>);
template <class Sinks>
concept sinks = requires(const tensor<float, seq, heads, d_k>& q, const tensor<float, key, heads, d_k>& k,
                         const tensor<float, key, heads, d_v>& v,
                         const Sinks& s) { nn::attention_with_sinks<d_k, key>(q, k, v, s).extents(); };
static_assert(sinks<tensor<float, heads>> && sinks<tensor<float, seq, heads>> &&
              !sinks<one_of_seq<tensor<float, seq, heads>>> && !sinks<tensor<float, key>>);

// R13: what is parallel and a choice at once is served by a mask of alternatives.
static_assert(std::is_same_v<given_mask<tensor<bool, batch, experts>>::facts::serves, list<experts>>);

TEST_CASE("mutation: masks") { CHECK(mask<causal<seq, key>>); }

}  // namespace mutation_masks
