// MISTAKE: no argument of multi-head attention has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::multi_head_attention.*declared<.*argument::features\b.*argument::heads\b.*argument::features\b.*argument::features\b.*argument::option\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::multi_head_attention<d_model, heads, d_k, d_v, nn::no_bias>;
#else
using module = nn::multi_head_attention<seq, d_k, heads, seq, d_ff>;
#endif
static_assert(sizeof(module) > 0);
