// MISTAKE: no argument of a stack has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::stack.*declared<.*argument::layer\b.*argument::norm\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::stack<encoder_block, feature_norm>;
#else
using module = nn::stack<d_k, d_v>;
#endif
static_assert(sizeof(module) > 0);
