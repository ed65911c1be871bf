// MISTAKE: no argument of a transformer has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::transformer.*declared<.*argument::dimensions\b.*argument::positions\b.*argument::features\b.*argument::layer\b.*argument::element\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::transformer<vocab, src, d_model, nn::stack<encoder_block>, float>;
#else
using module = nn::transformer<float, d_model, seq, d_k, nn::no_bias>;
#endif
static_assert(sizeof(module) > 0);
