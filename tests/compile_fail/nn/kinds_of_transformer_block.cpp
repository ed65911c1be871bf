// MISTAKE: no argument of a block has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::transformer_block.*declared<.*argument::layer\b.*argument::layer\b.*argument::norm\b.*argument::order\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::transformer_block<own_attention, two_layers, feature_norm, nn::pre_norm>;
#else
using module = nn::transformer_block<d_k, d_v, d_ff, d_model>;
#endif
static_assert(sizeof(module) > 0);
