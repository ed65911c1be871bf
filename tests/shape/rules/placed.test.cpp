// tests/shape/rules/placed.test.cpp -- the rules of shards and partial sums: R23, R24, R25.
// SPDX-License-Identifier: BSL-1.0
#include "../vocabulary.hpp"
#include <dimwise/shape/rules/loss.hpp>
#include <dimwise/shape/rules/reorder.hpp>

namespace shape_test {
namespace {

struct tp : mesh_axis<2> {};
struct dp : mesh_axis<> {};
struct sp : mesh_axis<4> {};
struct hidden : feature_dim<8> {};
struct examples : batch_dim<16> {};
using hidden_here = shard<hidden, tp>;
using batch_here = shard<batch, dp>;
using seq_here = shard<seq, sp>;
using key_here = shard<key, sp>;
using heads_here = shard<heads_dim<4>, tp>;
using vocab_here = shard<choice_dim<12>, tp>;

template <class... D>
using product = rule::contract<over<D...>, over<>, shape<batch, seq, hidden_here>, shape<hidden_here, d_model>>;
using terms = shape<batch, seq, d_model, partial<tp>>;

// Sums and products over a shard are terms of a sum over its ranks.
static_assert(gives<product<hidden_here>, terms>);
static_assert(gives<rule::reduce<op::sum, over<hidden_here>, shape<batch, hidden_here>>, shape<batch, partial<tp>>>);
static_assert(gives<rule::reduce<op::sum, over<batch>, shape<batch, hidden_here>>, shape<hidden_here>>);
static_assert(gives<rule::reduce<op::sum, over<merged<heads_here, d_k>>, shape<batch, merged<heads_here, d_k>>>,
                    shape<batch, partial<tp>>>);
static_assert(gives<rule::scatter_add<vocab, vocab, over<batch_here>, shape<batch_here, d_model>, shape<batch_here>>,
                    shape<vocab, d_model, partial<dp>>>);
// A shard that is not summed over stays.
static_assert(gives<rule::contract<over<d_model>, over<>, shape<batch, seq, d_model>, shape<d_model, hidden_here>>,
                    shape<batch, seq, hidden_here>>);
static_assert(gives<rule::contract<over<d_model>, over<>, shape<batch_here, seq, d_model>, shape<d_model, hidden_here>>,
                    shape<batch_here, seq, hidden_here>>);

// R23: terms pass through views, sums and products with whole values.
static_assert(gives<rule::permute<over<d_model, seq, batch>, terms>, shape<d_model, seq, batch, partial<tp>>>);
static_assert(gives<rule::rename<seq, key, terms>, shape<batch, key, d_model, partial<tp>>>);
static_assert(gives<rule::relabel<d_model, prime<d_model>, terms>, shape<batch, seq, prime<d_model>, partial<tp>>>);
static_assert(gives<rule::slice<seq, seq, terms>, terms>);
static_assert(gives<rule::at<batch, terms>, shape<seq, d_model, indexed<batch>, partial<tp>>>);
static_assert(gives<rule::at<batch, terms, op::unstack>, shape<seq, d_model, indexed<batch>, partial<tp>>>);
static_assert(gives<rule::replace_at<batch, terms, shape<seq, d_model, partial<tp>>, op::assign_at>, terms>);
static_assert(gives<rule::broadcast<heads, terms>, shape<heads, batch, seq, d_model, partial<tp>>>);
static_assert(gives<rule::broadcast_like<shape<d_model, partial<tp>>, shape<seq>>, shape<d_model, seq, partial<tp>>>);
static_assert(gives<rule::roll<seq, terms>, terms> && gives<rule::flip<d_model, terms>, terms>);
static_assert(gives<rule::concat<seq, terms, terms>, terms>);
static_assert(gives<rule::stack<layers, terms, terms>, shape<layers, batch, seq, d_model, partial<tp>>>);
static_assert(gives<rule::gather<vocab, vocab, shape<vocab, d_model, partial<tp>>, shape<seq>>,
                    shape<seq, d_model, partial<tp>>>);
static_assert(gives<rule::added<terms, terms>, terms> && gives<rule::negated<terms>, terms>);
static_assert(gives<rule::added<terms, shape<d_model, partial<tp>>>, terms>);
static_assert(gives<rule::multiplied<terms, shape<d_model>>, terms> && gives<rule::multiplied<shape<>, terms>, terms> &&
              gives<rule::divided<terms, shape<>>, terms>);
static_assert(
    gives<rule::multiplied<terms, shape<d_model, partial<dp>>>, shape<batch, seq, d_model, partial<dp>, partial<tp>>>);
static_assert(
    gives<rule::contract<over<d_model>, over<>, terms, shape<d_model, d_ff>>, shape<batch, seq, d_ff, partial<tp>>>);
static_assert(gives<rule::outer<shape<d_v, partial<tp>>, shape<heads>>, shape<d_v, heads, partial<tp>>>);
static_assert(gives<rule::reduce<op::mean, over<seq>, terms>, shape<batch, d_model, partial<tp>>>);
static_assert(gives<rule::assign<terms, terms>, terms>);
static_assert(
    gives<rule::assign<shape<seq, batch, d_model, partial<tp>>, terms>, shape<seq, batch, d_model, partial<tp>>>);

// Everything else refuses them.
#define REDUCED_FIRST(...) static_assert(says<ERROR_R23_partial_sum_is_reduced_first, __VA_ARGS__>)
using logits_terms = shape<batch, seq, vocab, partial<tp>>;
using score_terms = shape<seq, key, score<d_k>, partial<tp>>;
REDUCED_FIRST(rule::softmax<op::softmax, over<vocab>, logits_terms>);
REDUCED_FIRST(rule::softmax<op::log_softmax, over<vocab>, logits_terms>);
REDUCED_FIRST(rule::renormalise<over<vocab>, logits_terms>);
REDUCED_FIRST(rule::reduce<op::argmax, over<vocab>, logits_terms>);
REDUCED_FIRST(rule::reduce<op::logsumexp, over<vocab>, logits_terms>);
REDUCED_FIRST(rule::reduce<op::max, over<vocab>, logits_terms>);
REDUCED_FIRST(rule::reduce<op::min, over<batch>, logits_terms>);
REDUCED_FIRST(rule::reduce<op::norm, over<d_model>, terms>);
REDUCED_FIRST(rule::top_k<vocab, choice_dim<2>, logits_terms>);
REDUCED_FIRST(rule::norm<op::layer_norm, over<d_model>, terms>);
REDUCED_FIRST(rule::norm<op::rms_norm, over<d_model>, terms>);
REDUCED_FIRST(rule::norm<op::standardize, over<batch>, terms>);
REDUCED_FIRST(rule::norm<op::quantised, over<d_model>, terms>);
REDUCED_FIRST(
    rule::norm_with<op::layer_norm, over<d_model>, shape<seq, d_model>, shape<d_model, partial<tp>>, shape<d_model>>);
REDUCED_FIRST(rule::cumsum<over<seq>, terms>);
REDUCED_FIRST(rule::cumprod<over<seq>, terms>);
REDUCED_FIRST(rule::reduce<op::prod, over<d_model>, terms>);
REDUCED_FIRST(rule::sort<seq, terms>);
REDUCED_FIRST(rule::argsort<seq, terms>);
REDUCED_FIRST(rule::map<false, terms>);
REDUCED_FIRST(rule::exponential<terms>);
REDUCED_FIRST(rule::logarithm<terms>);
REDUCED_FIRST(rule::elementwise_by<op::compare, terms, shape<>>);
REDUCED_FIRST(rule::chosen<op::maximum, terms, terms>);
REDUCED_FIRST(rule::chosen<op::clamp, terms, shape<>, shape<>>);
REDUCED_FIRST(rule::chosen_by<shape<seq>, terms, terms>);
REDUCED_FIRST(rule::divided<shape<batch, seq, d_model>, terms>);
REDUCED_FIRST(rule::scaled<over<>, shape<seq, key, raw<d_k>, partial<tp>>>);
REDUCED_FIRST(rule::scaled_by<shape<seq, key, raw<d_k>>, shape<partial<tp>>>);
REDUCED_FIRST(rule::unscaled<shape<seq, key, raw<d_k>, partial<tp>>>);
REDUCED_FIRST(rule::masked<score_terms, detail::mask_facts<list<seq, key>, list<key>, false>>);
REDUCED_FIRST(rule::biased<score_terms, shape<seq, key>>);
REDUCED_FIRST(rule::biased<shape<seq, key, score<d_k>>, shape<seq, key, partial<tp>>>);
REDUCED_FIRST(rule::rotary<seq, d_k, shape<seq, d_k, partial<tp>>>);
REDUCED_FIRST(rule::pool<seq, one, seq, terms>);
REDUCED_FIRST(rule::unroll<seq, one, seq, terms>);
REDUCED_FIRST(rule::scores<over<d_k>, shape<seq, d_k, partial<tp>>, shape<key, d_k>>);
REDUCED_FIRST(rule::loss_of_pairs<op::mean_squared_error, list<>, terms, shape<batch, seq, d_model>, false>);
REDUCED_FIRST(
    rule::loss_of_alternatives<op::cross_entropy, vocab, list<>, logits_terms, vocab, shape<batch, seq>, false>);
REDUCED_FIRST(
    rule::linear_attention<seq, d_k, shape<seq, d_k>, shape<seq, d_k>, shape<seq, d_v, partial<tp>>, shape<d_k, d_v>>);
static_assert(
    refused<rule::append<key, shape<key, d_k>, shape<key, d_v>, shape<key, d_k, partial<tp>>, shape<key, d_v>>>);

// A bias on a partial sum, a product of two of them, and a declared type that does not say what is stored.
static_assert(says<ERROR_R23_whole_value_is_added_to_a_partial_sum, rule::added<terms, shape<d_model>>>);
static_assert(says<ERROR_R23_whole_value_is_added_to_a_partial_sum, rule::added<shape<>, terms>>);
static_assert(says<ERROR_R23_whole_value_is_added_to_a_partial_sum, rule::added<terms, shape<d_model, partial<dp>>>>);
static_assert(says<ERROR_R23_partial_sums_are_multiplied, rule::multiplied<terms, terms>>);
static_assert(says<ERROR_R23_partial_sums_are_multiplied,
                   rule::contract<over<d_model>, over<>, terms, shape<d_model, partial<tp>>>>);
static_assert(says<ERROR_R23_declared_type_drops_or_invents_partial, rule::assign<shape<batch, seq, d_model>, terms>>);
static_assert(says<ERROR_R23_declared_type_drops_or_invents_partial, rule::assign<terms, shape<batch, seq, d_model>>>);
static_assert(std::is_same_v<detail::kept_marks_t<op::plain, shape<seq, score<d_k>, partial<tp>>>, list<partial<tp>>>);
static_assert(detail::marks_row<op::dequantised>.partial == detail::effect::refuse &&
              detail::marks_row<op::causal>.partial == detail::effect::refuse);

// R24: what needs all elements does not go over a shard, under any name of it.
#define OVER_A_SHARD(...) static_assert(says<ERROR_R24_operation_goes_over_a_shard, __VA_ARGS__>)
OVER_A_SHARD(rule::softmax<op::softmax, over<vocab_here>, shape<batch, vocab_here>>);
OVER_A_SHARD(rule::softmax<op::softmax, over<key_here>, shape<seq, key_here, score<d_k>>>);
OVER_A_SHARD(rule::softmax<op::softmax, over<prime<seq_here>>, shape<seq, prime<seq_here>, score<d_k>>>);
OVER_A_SHARD(rule::renormalise<over<vocab_here>, shape<batch, vocab_here>>);
OVER_A_SHARD(rule::reduce<op::argmax, over<vocab_here>, shape<batch, vocab_here>>);
OVER_A_SHARD(rule::reduce<op::logsumexp, over<vocab_here>, shape<batch, vocab_here>>);
OVER_A_SHARD(rule::reduce<op::max, over<hidden_here>, shape<batch, hidden_here>>);
OVER_A_SHARD(rule::reduce<op::norm, over<hidden_here>, shape<batch, hidden_here>>);
OVER_A_SHARD(rule::norm<op::rms_norm, over<hidden_here>, shape<batch, hidden_here>>);
OVER_A_SHARD(rule::norm<op::quantised, over<hidden_here>, shape<batch, hidden_here>>);
OVER_A_SHARD(rule::cumsum<over<seq_here>, shape<batch, seq_here>>);
OVER_A_SHARD(rule::cumprod<over<seq_here>, shape<batch, seq_here>>);
OVER_A_SHARD(rule::reduce<op::prod, over<hidden_here>, shape<batch, hidden_here>>);
OVER_A_SHARD(rule::sort<seq_here, shape<batch, seq_here>>);
OVER_A_SHARD(rule::argsort<seq_here, shape<batch, seq_here>>);
OVER_A_SHARD(rule::roll<seq_here, shape<batch, seq_here>>);
OVER_A_SHARD(rule::flip<seq_here, shape<batch, seq_here>>);
OVER_A_SHARD(rule::at<seq_here, shape<batch, seq_here>>);
OVER_A_SHARD(rule::concat<seq_here, shape<batch, seq_here>, shape<batch, seq_here>>);
OVER_A_SHARD(rule::gather<vocab_here, vocab_here, shape<vocab_here, d_model>, shape<batch>>);
OVER_A_SHARD(rule::top_k<vocab_here, choice_dim<2>, shape<batch, vocab_here>>);
OVER_A_SHARD(rule::diagonal<seq_here, key_here, shape<seq_here, key_here>>);
OVER_A_SHARD(rule::scores<over<hidden_here>, shape<seq, hidden_here>, shape<key, hidden_here>>);
OVER_A_SHARD(rule::rotary<seq, hidden_here, shape<seq, hidden_here>>);
OVER_A_SHARD(rule::relabel<hidden_here, feature_dim<4>, shape<batch, hidden_here>>);
OVER_A_SHARD(rule::relabel<feature_dim<4>, hidden_here, shape<batch, feature_dim<4>>>);
OVER_A_SHARD(rule::slice<seq_here, src, shape<batch, seq_here>>);
static_assert(
    allowed<rule::loss_of_pairs<op::mean_squared_error, list<>, shape<batch_here>, shape<batch_here>, false>>);
OVER_A_SHARD(rule::loss_of_alternatives<op::cross_entropy, vocab_here, list<>, shape<batch, vocab_here>, vocab_here,
                                        shape<batch>, false>);
OVER_A_SHARD(rule::cache<key_here, shape<key_here, d_k>, shape<key_here, d_v>>);
static_assert(gives<rule::rename<key_here, seq_here, shape<batch, key_here>>, shape<batch, seq_here>>);
OVER_A_SHARD(rule::slice<seq, shard<seq, sp, striped>, shape<batch, seq>>);
OVER_A_SHARD(rule::top_k<vocab, vocab_here, shape<batch, vocab>>);
static_assert(gives<rule::slice<hidden, hidden_here, shape<batch, hidden>>, shape<batch, hidden_here>>);
static_assert(gives<rule::slice<seq_here, seq_here, shape<batch, seq_here>>, shape<batch, seq_here>>);
static_assert(gives<rule::rotary<seq_here, d_k, shape<seq_here, d_k>>, shape<seq_here, d_k, rotated<d_k, seq>>>);
static_assert(gives<rule::merge<shape<seq, heads_here, d_k>, heads_here, d_k>, shape<seq, merged<heads_here, d_k>>>);
static_assert(gives<rule::softmax<op::softmax, over<key>, shape<heads_here, seq_here, key, score<d_k>>>,
                    shape<heads_here, seq_here, key, normalised<key>>>);
// Queries and keys of one part are a block of the scores.
static_assert(
    gives<rule::scores<over<d_k>, shape<seq_here, d_k>, shape<key_here, d_k>>, shape<seq_here, key_here, score<d_k>>>);

// The mean of a part is not the mean.
template <class How, class... D>
inline constexpr bool averages = detail::averages_part<op::mean, How, list<D...>>;
static_assert(
    gives<rule::reduce<op::mean, over<shard<examples, tp>>, shape<shard<examples, tp>, seq>>, shape<seq, partial<tp>>>);
static_assert(says<ERROR_R24_mean_over_a_shard_divides_by_the_whole_extent,
                   rule::reduce<op::mean, over<batch_here>, shape<batch_here, seq>>>);
static_assert(gives<rule::mean_of_whole<batch, over<batch_here, seq>, shape<batch_here, seq>>, shape<partial<dp>>>);
static_assert(says<ERROR_R24_mean_over_a_shard_divides_by_the_whole_extent,
                   rule::mean_of_whole<batch, over<batch_here, seq_here>, shape<batch_here, seq_here>>>);
static_assert(
    says<ERROR_R24_mean_over_a_shard_divides_by_the_whole_extent,
         rule::reduce_masked<op::mean, over<shard<examples, tp>>, shape<shard<examples, tp>, vocab>,
                             detail::mask_facts<list<shard<examples, tp>>, list<shard<examples, tp>>, false>>>);
static_assert(!averages<detail::of_one, seq, batch> && averages<detail::of_one, prime<hidden_here>> &&
              averages<detail::of_masked, hidden_here> && !averages<detail::of_masked, hidden> &&
              averages<detail::of_one, merged<heads_here, d_k>>);

// A whole dimension and its shard.
static_assert(says<ERROR_R24_whole_dimension_meets_its_shard,
                   rule::contract<over<hidden_here>, over<>, shape<seq, hidden_here>, shape<hidden, d_model>>>);
static_assert(says<ERROR_R24_whole_dimension_meets_its_shard,
                   rule::contract<over<hidden>, over<>, shape<seq, hidden_here>, shape<hidden, d_model>>>);
static_assert(says<ERROR_R24_whole_dimension_meets_its_shard,
                   rule::contract<over<hidden>, over<>, shape<seq, hidden>, shape<hidden_here, d_model>>>);
static_assert(says<ERROR_R24_whole_dimension_meets_its_shard, rule::added<shape<seq, hidden_here>, shape<hidden>>>);
static_assert(says<ERROR_R1_contracted_dimension_is_not_in_both,
                   rule::contract<over<d_ff>, over<>, shape<seq, hidden_here>, shape<hidden, d_model>>>);

// R25: a product may not give two dimensions, or a dimension and a partial sum, of one mesh axis.
static_assert(
    says<ERROR_R25_mesh_axis_occurs_twice,
         rule::contract<over<d_model>, over<>, shape<shard<examples, tp>, d_model>, shape<d_model, hidden_here>>>);
static_assert(says<ERROR_R25_mesh_axis_occurs_twice,
                   rule::contract<over<key_here>, over<>, shape<seq_here, key_here>, shape<key_here, d_v>>>);
static_assert(says<ERROR_R25_mesh_axis_occurs_twice, rule::outer<shape<d_v, partial<tp>>, shape<hidden_here>>>);
static_assert(says<ERROR_R25_mesh_axis_occurs_twice, rule::broadcast<hidden_here, terms>>);
static_assert(gives<rule::outer<shape<d_v, partial<dp>>, shape<hidden_here>>, shape<d_v, hidden_here, partial<dp>>>);

// Shapes without a mesh axis are not looked at.
static_assert(!detail::is_placed<shape<batch, seq, d_model, score<d_k>>> &&
              detail::is_placed<shape<batch, partial<tp>>> && detail::is_placed<shape<merged<heads_here, d_k>>>);

}  // namespace
}  // namespace shape_test
