// MISTAKE: no argument of latent attention has the kind of its place.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*op::latent_attention.*declared<.*argument::features\b.*argument::heads\b.*argument::features\b.*argument::features\b.*argument::features\b.*argument::features\b.*argument::element\b
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::latent_attention<d_model, heads, d_k, rot, d_v, latent, float>;
#else
using module = nn::latent_attention<seq, d_k, heads, seq, heads, seq, nn::with_bias>;
#endif
static_assert(sizeof(module) > 0);
