// MISTAKE: no argument of cross-attention has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::cross_attention.*declared<.*argument::positions\b.*argument::positions\b.*argument::attention\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::cross_attention<seq, src, heads_attention>;
#else
using module = nn::cross_attention<d_model, heads, d_k>;
#endif
static_assert(sizeof(module) > 0);
