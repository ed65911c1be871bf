// tests/mutation/linear_attention.test.cpp -- attention by a state: each condition of its rules.
//
// SPDX-License-Identifier: BSL-1.0
#include "shape/vocabulary.hpp"
#include <dimwise/shape/rules/linear_attention.hpp>

#include <doctest/doctest.h>

namespace mutation_linear_attention {

using namespace shape_test;

struct text : packed_dim<> {};

using q = shape<batch, seq, heads, d_k>;
using v = shape<batch, seq, heads, d_v>;
using state = shape<batch, heads, d_k, d_v>;
template <class Q, class K, class V, class State>
using attended = rule::linear_attention<seq, d_k, Q, K, V, State>;
using told_apart_values = ERROR_R16_query_key_and_value_are_told_apart_by_dimensions<
    op::linear_attention, over<detail::about_t<seq>, detail::about_t<d_k>>, lhs<batch, seq, heads, d_k, d_model>,
    rhs<batch, seq, heads, d_model, d_v>>;

static_assert(gives<attended<q, q, v, state>, shape<batch, seq, heads, d_v>>);
// Grouped: the queries have a dimension that keys and values lack.
static_assert(gives<attended<shape<batch, seq, heads, d_k>, shape<batch, seq, d_k>, shape<batch, seq, d_v>,
                             shape<batch, d_k, d_v>>,
                    shape<batch, seq, heads, d_v>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, attended<shape<batch, seq, heads>, q, v, state>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, attended<q, shape<batch, seq, heads>, v, state>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, attended<q, q, shape<batch, heads, d_v>, state>>);
static_assert(says<ERROR_R13_needs_ordered_positions,
                   rule::linear_attention<batch, d_k, shape<batch, heads, d_k>, shape<batch, heads, d_k>,
                                          shape<batch, heads, d_v>, shape<heads, d_k, d_v>>>);
static_assert(
    says<ERROR_R19_packed_positions_need_their_documents,
         rule::linear_attention<text, d_k, shape<text, d_k>, shape<text, d_k>, shape<text, d_v>, shape<d_k, d_v>>>);
// Values have one feature of their own, and all that keys have beside theirs, which is parallel.
static_assert(says<ERROR_R16_query_key_and_value_are_told_apart_by_dimensions,
                   attended<q, q, shape<batch, seq, heads, d_k>, shape<batch, heads, d_k>>>);
static_assert(says<ERROR_R16_query_key_and_value_are_told_apart_by_dimensions,
                   attended<q, q, shape<batch, seq, heads>, shape<batch, heads, d_k>>>);
static_assert(
    says<ERROR_R16_query_key_and_value_are_told_apart_by_dimensions, attended<q, q, shape<batch, seq, d_v>, state>>);
static_assert(std::is_same_v<attended<shape<batch, seq, heads, d_k, d_model>, shape<batch, seq, heads, d_k, d_model>,
                                      shape<batch, seq, heads, d_model, d_v>, shape<batch, heads, d_model, d_k, d_v>>,
                             told_apart_values>);
// Queries have all that keys have, and only parallel dimensions besides.
static_assert(
    says<ERROR_R16_query_key_and_value_are_told_apart_by_dimensions, attended<shape<batch, seq, d_k>, q, v, state>>);
static_assert(says<ERROR_R16_query_key_and_value_are_told_apart_by_dimensions,
                   attended<shape<batch, seq, heads, d_k, d_model>, q, v, state>>);
static_assert(says<ERROR_R3_assigned_dimensions_differ, attended<q, q, v, shape<batch, d_k, d_v>>>);
// All but the values are rotated, or none.
using turned = shape<batch, seq, heads, d_k, rotated<d_k, seq>>;
static_assert(gives<attended<turned, turned, v, shape<batch, heads, d_k, d_v, rotated<d_k, seq>>>,
                    shape<batch, seq, heads, d_v>>);
static_assert(says<ERROR_R9_only_one_operand_is_rotated, attended<turned, q, v, state>>);
static_assert(
    says<ERROR_R9_only_one_operand_is_rotated, attended<q, q, v, shape<batch, heads, d_k, d_v, rotated<d_k, seq>>>>);
static_assert(
    says<ERROR_R9_values_are_not_rotated, attended<q, q, shape<batch, seq, heads, d_v, rotated<d_v, seq>>, state>>);

static_assert(says<ERROR_R9_operands_are_rotated_by_other_positions,
                   attended<turned, shape<batch, seq, heads, d_k, rotated<d_k, src>>, v,
                            shape<batch, heads, d_k, d_v, rotated<d_k, seq>>>>);
static_assert(says<ERROR_R9_operands_are_rotated_by_other_positions,
                   attended<turned, turned, v, shape<batch, heads, d_k, d_v, rotated<d_k, src>>>>);
// Nothing that goes in is one element of a dimension that another has (R18).
using of_one = shape<batch, seq, heads, d_k, indexed<layers>>;
static_assert(gives<attended<of_one, of_one, v, state>, shape<batch, seq, heads, d_v>>);
static_assert(
    says<ERROR_R18_single_element_meets_its_whole_dimension,
         attended<q, shape<seq, heads, d_k, indexed<batch>>, shape<seq, heads, d_v>, shape<heads, d_k, d_v>>>);
static_assert(
    says<ERROR_R18_single_element_meets_its_whole_dimension, rule::state_change<seq, q, shape<seq, indexed<heads>>>>);
static_assert(gives<rule::state_change<seq, q, shape<seq, indexed<layers>>>, q>);

static_assert(gives<rule::state_change<seq, q, shape<batch, seq>>, q>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::state_change<seq, q, shape<batch, heads>>>);
static_assert(says<ERROR_R8_neither_has_all_dimensions_of_the_other, rule::state_change<seq, q, shape<seq, d_model>>>);

}  // namespace mutation_linear_attention
