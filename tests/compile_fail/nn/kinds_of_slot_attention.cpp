// MISTAKE: no argument of slot attention has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::slot_attention.*declared<.*argument::positions\b.*argument::positions\b.*argument::features\b.*argument::features\b.*argument::features\b.*argument::features\b.*argument::features\b.*argument::element\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::slot_attention<src, slots, d_model, d_ff, d_k, d_v, latent, float>;
#else
using module = nn::slot_attention<d_model, d_k, heads, seq, heads, seq, heads, nn::no_bias>;
#endif
static_assert(sizeof(module) > 0);
