// tests/nn/kinds.test.cpp -- the kinds of dimensions that modules take, and which modules are rejected for them (R13).
// SPDX-License-Identifier: BSL-1.0
#include "modules.hpp"

namespace modules {

namespace of = nn::detail;
struct rows : position_dim<3> {};
struct columns : position_dim<4> {};
struct words : choice_dim<5> {};
struct key_heads : heads_dim<2> {};

// Every dimension has the kind of its place, also composite and derived ones.
static_assert(!of::other_kinds<of::positions<seq, key, merged<rows, columns>>, of::heads<heads, prime<heads>>,
                               of::features<d_model, d_k, out<d_model>, summed<d_k, d_v>>>);
static_assert(of::other_kinds<of::positions<d_model>, of::features<seq>>);
static_assert(of::other_kinds<of::heads<seq>> && of::other_kinds<of::heads<d_k>>);
static_assert(of::other_kinds<of::features<words>> && of::other_kinds<of::positions<batch>>);
static_assert(of::other_kinds<of::features<float>>);

// Layouts of heads count by their dimensions.
static_assert(!of::other_kinds<of::heads_of<nn::single_head>, of::heads_of<nn::shared_keys<heads>>,
                               of::heads_of<nn::grouped_heads<key_heads, group>>>);
static_assert(of::other_kinds<of::heads_of<nn::shared_keys<d_k>>>);
static_assert(of::other_kinds<of::heads_of<nn::grouped_heads<d_k, group>>>);

// The error lists what is in the wrong place, and which kind belongs there.
static_assert(
    std::is_same_v<of::kinds_error<op::learned_positions, of::positions<d_model>, of::features<seq, d_k>>,
                   ERROR_R13_module_takes_arguments_of_other_kinds<op::learned_positions, over<d_model, seq>,
                                                                   declared<argument::positions, argument::features>>>);

}  // namespace modules
