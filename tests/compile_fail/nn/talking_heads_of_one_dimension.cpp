// MISTAKE: talking-heads attention mixes the heads of the keys into themselves.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*op::talking_heads_attention.*heads
#include "nn_prelude.hpp"

#ifdef FIXED
using module = nn::talking_heads_attention<d_model, heads, mixed, value_heads, d_k, d_v>;
#else
using module = nn::talking_heads_attention<d_model, heads, heads, value_heads, d_k, d_v>;
#endif
static_assert(sizeof(module) > 0);
