// tests/shape/rules/collectives.test.cpp -- the shards and partial sums that collectives take and give.
// SPDX-License-Identifier: BSL-1.0
#include "../vocabulary.hpp"
#include <dimwise/shape/rules/collectives.hpp>

namespace shape_test {
namespace {

struct tp : mesh_axis<2> {};
struct dp : mesh_axis<> {};
struct hidden : feature_dim<8> {};
struct odd : feature_dim<5> {};
using hidden_here = shard<hidden, tp>;
using seq_here = shard<seq, tp>;

using terms = shape<batch, hidden, partial<tp>>;
static_assert(gives<rule::all_reduce<tp, terms>, shape<batch, hidden>>);
static_assert(gives<rule::all_reduce<tp, shape<batch, partial<dp>, partial<tp>>>, shape<batch, partial<dp>>>);
static_assert(gives<rule::all_reduce<tp, shape<partial<tp>>>, shape<>>);
static_assert(says<ERROR_R23_operand_is_no_partial_sum, rule::all_reduce<dp, terms>>);
static_assert(says<ERROR_R23_operand_is_no_partial_sum, rule::all_reduce<tp, shape<batch, hidden_here>>>);

static_assert(gives<rule::reduce_scatter<tp, hidden, terms>, shape<batch, hidden_here>>);
static_assert(gives<rule::reduce_scatter<tp, batch, terms>, shape<shard<batch, tp>, hidden>>);
static_assert(gives<rule::reduce_scatter<tp, seq, shape<seq, score<d_k>, partial<tp>>, striped>,
                    shape<shard<seq, tp, striped>, score<d_k>>>);
static_assert(says<ERROR_R23_operand_is_no_partial_sum, rule::reduce_scatter<tp, hidden, shape<batch, hidden>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::reduce_scatter<tp, seq, terms>>);
static_assert(says<ERROR_R4_extent_does_not_divide, rule::reduce_scatter<tp, odd, shape<odd, partial<tp>>>>);
static_assert(says<ERROR_R24_dimension_has_no_such_shard,
                   rule::reduce_scatter<tp, merged<heads, d_k>, shape<merged<heads, d_k>, partial<tp>>>>);
static_assert(
    says<ERROR_R24_dimension_has_no_such_shard, rule::reduce_scatter<dp, seq, shape<seq, partial<dp>>, striped>>);

static_assert(gives<rule::all_gather<tp, hidden, shape<batch, hidden_here>>, shape<batch, hidden>>);
static_assert(gives<rule::all_gather<tp, key, shape<shard<key, tp, striped>, d_k, rotated<d_k, seq>>>,
                    shape<key, d_k, rotated<d_k, seq>>>);
static_assert(gives<rule::all_gather<tp, hidden, shape<hidden_here, partial<dp>>>, shape<hidden, partial<dp>>>);
static_assert(says<ERROR_R24_operand_has_no_such_shard, rule::all_gather<tp, hidden, shape<batch, hidden>>>);
static_assert(says<ERROR_R24_operand_has_no_such_shard, rule::all_gather<dp, hidden, shape<batch, hidden_here>>>);
static_assert(says<ERROR_R24_operand_has_no_such_shard, rule::all_gather<tp, hidden_here, shape<batch, hidden_here>>>);
static_assert(says<ERROR_R17_dimension_occurs_twice, rule::all_gather<tp, hidden, shape<hidden, hidden_here>>>);

static_assert(gives<rule::all_to_all<tp, seq, hidden, shape<seq_here, hidden>>, shape<seq, hidden_here>>);
static_assert(
    gives<rule::all_to_all<tp, hidden, seq, shape<seq, hidden_here>, striped>, shape<shard<seq, tp, striped>, hidden>>);
static_assert(says<ERROR_R24_operand_has_no_such_shard, rule::all_to_all<tp, seq, hidden, shape<seq, hidden>>>);
static_assert(says<ERROR_R1_dimension_is_not_in_the_operand, rule::all_to_all<tp, seq, hidden, shape<seq_here, d_k>>>);
static_assert(says<ERROR_R4_extent_does_not_divide, rule::all_to_all<tp, seq, odd, shape<seq_here, odd>>>);
static_assert(
    says<ERROR_R24_dimension_has_no_such_shard, rule::all_to_all<tp, seq, packed_key, shape<seq_here, packed_key>>>);

static_assert(gives<rule::broadcast_from<tp, shape<batch, hidden>>, shape<batch, hidden>>);
static_assert(gives<rule::broadcast_from<dp, shape<batch, hidden_here>>, shape<batch, hidden_here>>);
static_assert(says<ERROR_R24_operation_goes_over_a_shard, rule::broadcast_from<tp, shape<batch, hidden_here>>>);
static_assert(says<ERROR_R23_partial_sum_is_reduced_first, rule::broadcast_from<tp, terms>>);

static_assert(gives<rule::permute_ranks<tp, shape<seq_here, d_k>>, shape<seq_here, d_k>>);
static_assert(gives<rule::permute_ranks<tp, terms>, terms>);
static_assert(says<ERROR_R24_operand_has_no_such_shard, rule::permute_ranks<tp, shape<seq, d_k>>>);

using key_here = shard<key, tp>;
using block_scores = shape<batch, seq_here, key_here, score<d_k>>;
using block_values = shape<batch, key_here, hidden>;
static_assert(gives<rule::ring_attention<key_here, block_scores, block_values>, shape<batch, seq_here, hidden>>);
static_assert(gives<rule::ring_attention<key_here, shape<batch, seq, key_here, score<d_k>>, block_values>,
                    shape<batch, seq, hidden>>);
static_assert(says<ERROR_R24_operand_has_no_such_shard,
                   rule::ring_attention<key, shape<batch, seq, key, score<d_k>>, shape<batch, key, hidden>>>);
static_assert(says<ERROR_R24_operand_has_no_such_shard,
                   rule::ring_attention<key_here, shape<batch, seq_here, key, score<d_k>>, block_values>>);
static_assert(says<ERROR_R24_whole_dimension_meets_its_shard,
                   rule::ring_attention<key_here, block_scores, shape<batch, key, hidden>>>);
static_assert(
    says<ERROR_R23_partial_sum_is_reduced_first,
         rule::ring_attention<key_here, shape<batch, seq_here, key_here, score<d_k>, partial<dp>>, block_values>>);
static_assert(says<ERROR_R6_raw_products_are_scaled_first,
                   rule::ring_attention<key_here, shape<batch, seq_here, key_here, raw<d_k>>, block_values>>);

}  // namespace
}  // namespace shape_test
