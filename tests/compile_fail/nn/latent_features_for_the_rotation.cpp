// MISTAKE: latent attention rotates its latent features.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*op::latent_attention.*latent
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::latent_attention<d_model, heads, d_k, rot, d_v, latent>;
#else
using module = nn::latent_attention<d_model, heads, d_k, latent, d_v, latent>;
#endif
static_assert(sizeof(module) > 0);
