// MISTAKE: no argument of talking-heads attention has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::talking_heads_attention.*declared<.*argument::features\b.*argument::heads\b.*argument::heads\b.*argument::heads\b.*argument::features\b.*argument::features\b.*argument::element\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::talking_heads_attention<d_model, heads, mixed, value_heads, d_k, d_v, float>;
#else
using module = nn::talking_heads_attention<seq, d_k, seq, d_v, heads, seq, nn::no_bias>;
#endif
static_assert(sizeof(module) > 0);
