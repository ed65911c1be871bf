// MISTAKE: no argument of learned positions has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::learned_positions.*declared<.*argument::positions\b.*argument::features\b.*argument::element\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::learned_positions<seq, d_model, float>;
#else
using module = nn::learned_positions<d_model, seq, nn::no_bias>;
#endif
static_assert(sizeof(module) > 0);
