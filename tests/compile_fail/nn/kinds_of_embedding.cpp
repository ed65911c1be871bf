// MISTAKE: no argument of an embedding has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::embedding.*declared<.*argument::dimensions\b.*argument::features\b.*argument::element\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::embedding<vocab, d_model, float>;
#else
using module = nn::embedding<float, heads, nn::with_bias>;
#endif
static_assert(sizeof(module) > 0);
