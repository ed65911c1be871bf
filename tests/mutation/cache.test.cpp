// tests/mutation/cache.test.cpp -- caches: each condition of what one holds and of what is appended.
//
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"
#include <dimwise/shape/rules/cache.hpp>

#include <doctest/doctest.h>

namespace mutation_cache {

using namespace shape_test;

struct four_keys : position_dim<4> {};

using keys = shape<batch, heads, key, d_k, rotated<d_k, seq>>;
using values = shape<batch, heads, key, d_v>;

// --- what a cache holds ---

static_assert(gives<rule::cache<key, keys, values>, keys>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::cache<key, shape<batch, heads, d_k>, values>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::cache<key, keys, shape<batch, heads, d_v>>>);
static_assert(says<ERROR_R10_cache_grows_along_a_run_time_extent,
                   rule::cache<four_keys, shape<four_keys, d_k>, shape<four_keys, d_v>>>);
static_assert(
    says<ERROR_R9_values_are_not_rotated, rule::cache<key, keys, shape<batch, heads, key, d_v, rotated<d_v, seq>>>>);
// Keys and values have the same parallel dimensions, and features of their own.
static_assert(says<ERROR_R10_operands_differ_in_another_dimension, rule::cache<key, keys, shape<batch, key, d_v>>>);

// Positions of several documents, and elements of 4 bits along what grows: of keys and of values.
struct text : packed_dim<> {};
static_assert(
    says<ERROR_R19_packed_positions_need_their_documents, rule::cache<text, shape<text, d_k>, shape<text, d_v>>>);
static_assert(gives<rule::cache<key, keys, values, true, true>, keys>);
static_assert(gives<rule::cache<key, shape<d_k, key>, shape<d_v, key>>, shape<d_k, key>>);
static_assert(
    says<ERROR_R10_cache_grows_by_whole_bytes, rule::cache<key, shape<d_k, key>, shape<key, d_v>, true, true>>);
static_assert(
    says<ERROR_R10_cache_grows_by_whole_bytes, rule::cache<key, shape<key, d_k>, shape<d_v, key>, false, true>>);
static_assert(gives<rule::cache<key, shape<d_k, key>, shape<key, d_v>, false, true>, shape<d_k, key>>);
static_assert(gives<rule::cache<key, shape<key, d_k>, shape<d_v, key>, true, false>, shape<key, d_k>>);

// --- what is appended ---

template <class K, class V>
using appended = rule::append<key, keys, values, K, V>;
static_assert(gives<appended<keys, values>, values>);
static_assert(gives<appended<shape<key, batch, heads, d_k, rotated<d_k, seq>>, shape<d_v, key, heads, batch>>, values>);
// Other positions, none, or more.
static_assert(says<ERROR_R3_values_are_at_other_positions_than_the_weights,
                   appended<shape<batch, heads, seq, d_k, rotated<d_k, seq>>, values>>);
static_assert(
    says<ERROR_R1_dimension_is_not_in_the_operand, appended<shape<batch, heads, d_k, rotated<d_k, seq>>, values>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension,
                   appended<shape<batch, heads, seq, key, d_k, rotated<d_k, seq>>, values>>);
// Other dimensions, another rotation, other marks; of keys and of values.
static_assert(
    says<ERROR_R10_operands_differ_in_another_dimension, appended<shape<batch, key, d_k, rotated<d_k, seq>>, values>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension, appended<keys, shape<batch, key, d_v>>>);
static_assert(says<ERROR_R9_only_one_operand_is_rotated, appended<shape<batch, heads, key, d_k>, values>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension,
                   appended<shape<batch, heads, key, d_k, weighted<key>, rotated<d_k, seq>>, values>>);
static_assert(says<ERROR_R9_values_are_not_rotated, appended<keys, shape<batch, heads, key, d_v, rotated<d_v, seq>>>>);
static_assert(says<ERROR_R9_operands_are_rotated_by_other_positions,
                   appended<shape<batch, heads, key, d_k, rotated<d_k, src>>, values>>);
// What `at` took is stored as any other (R18).
static_assert(gives<appended<shape<batch, heads, key, d_k, rotated<d_k, seq>, indexed<layers>>,
                             shape<batch, heads, key, d_v, indexed<layers>>>,
                    values>);
static_assert(
    says<ERROR_R10_operands_differ_in_another_dimension, appended<keys, shape<batch, key, d_v, rotated<d_v, seq>>>>);
// Exchanged: only where each is the other.
static_assert(says<ERROR_R16_query_key_and_value_are_told_apart_by_dimensions, appended<values, keys>>);
static_assert(says<ERROR_R10_operands_differ_in_another_dimension, appended<shape<batch, heads, key, d_model>, keys>>);
static_assert(
    says<ERROR_R10_operands_differ_in_another_dimension, appended<values, shape<batch, heads, key, d_model>>>);
static_assert(
    gives<rule::append<key, shape<key, d_k>, shape<key, d_k>, shape<key, d_k>, shape<key, d_k>>, shape<key, d_k>>);

}  // namespace mutation_cache
