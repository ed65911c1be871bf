// MISTAKE: no argument of self-attention has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::self_attention.*declared<.*argument::positions\b.*argument::positions\b.*argument::attention\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::self_attention<seq, key, heads_attention>;
#else
using module = nn::self_attention<d_model, heads, d_k>;
#endif
static_assert(sizeof(module) > 0);
