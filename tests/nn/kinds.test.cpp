// tests/nn/kinds.test.cpp -- what belongs in the places of a module's type, and which modules are rejected (R13, R17).
// SPDX-License-Identifier: BSL-1.0
#include "modules.hpp"

namespace modules {

namespace of = nn::detail;
struct rows : position_dim<3> {};
struct columns : position_dim<4> {};
struct words : choice_dim<5> {};
struct key_heads : heads_dim<2> {};

// Every dimension has the kind of its place, also composite and derived ones.
static_assert(!of::other_arguments<of::positions<seq, key, merged<rows, columns>>, of::heads<heads, prime<heads>>,
                                   of::features<d_model, d_k, out<d_model>, summed<d_k, d_v>>>);
static_assert(of::other_arguments<of::positions<d_model>, of::features<seq>>);
static_assert(of::other_arguments<of::heads<seq>> && of::other_arguments<of::heads<d_k>>);
static_assert(of::other_arguments<of::features<words>> && of::other_arguments<of::positions<batch>>);
static_assert(of::other_arguments<of::features<float>> && of::other_arguments<of::dimensions<d_model, float>>);
static_assert(!of::other_arguments<of::dimensions<seq, d_model, out<d_model>>>);

// Layouts of heads count by their dimensions.
static_assert(!of::other_arguments<of::heads_of<nn::single_head>, of::heads_of<nn::shared_keys<heads>>,
                                   of::heads_of<nn::grouped_heads<key_heads, group>>>);
static_assert(of::other_arguments<of::heads_of<nn::shared_keys<d_k>>>);
static_assert(of::other_arguments<of::heads_of<nn::grouped_heads<d_k, group>>>);

// The dimensions of one tensor occur once; a map to its own features does not name them twice.
static_assert(of::other_arguments<of::once<d_k, d_v, d_k>> && !of::other_arguments<of::once<d_model, out<d_model>>>);
static_assert(of::other_arguments<of::heads_once<nn::grouped_heads<heads, heads>>>);

// Element types: numbers, also tracked ones; blocks and 16 bits where weights may be quantized.
static_assert(!of::other_arguments<of::element<double>, of::element<tracked<float>>, of::element<bfloat16>>);
static_assert(!of::other_arguments<of::weight_element<nn::int8_blocks>, of::weight_element<float16>>);
static_assert(of::other_arguments<of::element<nn::int8_blocks>> && of::other_arguments<of::element<int>>);
static_assert(of::other_arguments<of::weight_element<d_k>> && of::other_arguments<of::weight_element<nn::no_bias>>);
static_assert(of::other_arguments<of::weight_element<nn::elements<double>>>);
static_assert(!of::other_arguments<of::bias<nn::no_bias>, of::bias<nn::with_bias>, of::bias<nn::optional_bias>>);
static_assert(of::other_arguments<of::bias<float>> && of::other_arguments<of::bias<nn::activation::relu>>);

// Activations are functions without parameters, also those of a user; a lambda has a type as well.
struct doubled {
  auto operator()(const auto& x) const { return x + x; }
};
using tripled = decltype([](const auto& x) { return x + x + x; });
static_assert(!of::other_arguments<of::activation<nn::activation::gelu>, of::activation<doubled>>);
static_assert(!of::other_arguments<of::activation<tripled>>);
static_assert(of::other_arguments<of::activation<float>> && of::other_arguments<of::activation<nn::with_bias>>);
static_assert(of::other_arguments<of::activation<d_k>> && of::other_arguments<of::activation<nn::no_bias>>);
static_assert(of::other_arguments<of::activation<nn::layer_norm<d_model>>>);

// Parts: modules, functions, and modules that are not complete yet.
struct tree {
  nn::stack<tree> children;
  using members = nn::member_list<&tree::children>;
};
static_assert(!of::other_arguments<of::parts<tree, doubled, tripled, nn::layer_norm<d_model>>>);
static_assert(of::other_arguments<of::parts<d_model>> && of::other_arguments<of::parts<float>>);
static_assert(of::other_arguments<of::parts<nn::pre_norm>> && of::other_arguments<of::parts<argument::nothing>>);

// A norm does not stand in the place of a layer, nor a layer in that of a norm. A feed-forward layer may mix positions
// in place of an attention.
using plain_attention = nn::multi_head_attention<d_model, heads, d_k, d_v>;
using own_attention = nn::self_attention<seq, key, plain_attention>;
using two_layers = nn::feed_forward<d_model, hidden>;
static_assert(!of::other_arguments<of::layers<own_attention, two_layers, nn::no_norm>, of::norm<nn::no_norm>>);
static_assert(!of::other_arguments<of::norm<nn::rms_norm<d_model>>, of::norm<doubled>>);
static_assert(of::other_arguments<of::norm<two_layers>> && of::other_arguments<of::norm<own_attention>>);
static_assert(of::other_arguments<of::layers<nn::layer_norm<d_model>>>);
static_assert(!of::other_arguments<of::attention_module<plain_attention>>);
static_assert(of::other_arguments<of::attention_module<two_layers>> && of::other_arguments<of::attention_module<key>>);
static_assert(!of::other_arguments<of::order<nn::pre_norm>, of::order<nn::post_norm>>);
static_assert(of::other_arguments<of::order<two_layers>> && of::other_arguments<of::order<float>>);

// Options of multi-head attention, and one change of queries and keys.
using normed = nn::normalised_heads<nn::rms_norm<d_k>>;
static_assert(!of::other_arguments<of::options<nn::no_bias, nn::sinks, nn::elements<double>, nn::keys_from<hidden>>>);
static_assert(!of::other_arguments<of::options<nn::as_projected, normed, nn::prepared_by<normed, nn::rotated_heads>>>);
static_assert(of::other_arguments<of::options<nn::to<hidden>>> && of::other_arguments<of::options<hidden>>);
static_assert(of::other_arguments<of::options<nn::keys_from<seq>>>);
static_assert(of::other_arguments<of::options<nn::elements<hidden>>>);
static_assert(
    !of::other_arguments<of::options_once<nn::no_bias, nn::sinks, nn::keys_from<hidden>, nn::values_from<hidden>>>);
static_assert(of::other_arguments<of::options_once<nn::no_bias, nn::sinks, nn::no_bias>>);
static_assert(of::other_arguments<of::options_once<nn::keys_from<hidden>, nn::keys_from<d_model>>>);
static_assert(std::is_same_v<rebind<double, nn::layer_norm<d_model, nn::elements<float>>>,
                             nn::layer_norm<d_model, nn::elements<double>>>);
static_assert(
    std::is_same_v<rebind<double, nn::multi_head_attention<d_model, heads, d_k, d_k, nn::no_bias, nn::elements<float>>>,
                   nn::multi_head_attention<d_model, heads, d_k, d_k, nn::elements<double>, nn::no_bias>>);
static_assert(of::other_arguments<of::options<nn::normalised_heads<d_k>>>);
static_assert(of::other_arguments<of::options<nn::prepared_by<d_k, nn::rotated_heads>>>);
static_assert(of::other_arguments<of::preparations<nn::rotated_heads, nn::no_bias, normed>>);
static_assert(!of::other_arguments<of::preparations<nn::no_bias, nn::rotated_heads>>);

// The keys may have as many features as the model, and the values those of the keys.
static_assert(sizeof(nn::multi_head_attention<d_model, heads, d_model, d_v>) > 0);
static_assert(sizeof(nn::multi_head_attention<d_model, heads, d_k, d_k>) > 0);

// The error lists what is in the wrong place, and what belongs there; then a repeated dimension.
static_assert(
    std::is_same_v<of::arguments_error<op::learned_positions, of::positions<d_model>, of::features<seq, d_k>>,
                   ERROR_R13_module_takes_arguments_of_other_kinds<op::learned_positions, over<d_model, seq>,
                                                                   declared<argument::positions, argument::features>>>);
static_assert(std::is_same_v<of::arguments_error<op::linear, of::dimensions<d_k, d_k>, of::once<d_k, d_k>>,
                             ERROR_R17_dimension_occurs_twice<op::linear, over<d_k>>>);

// A module of right arguments does not say that this translation unit has an error.
static_assert(!dimwise::detail::was_raised<dimwise::detail::refused_type, tree>);

}  // namespace modules
