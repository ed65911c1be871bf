// MISTAKE: keys whose mark names no positions go into a cache whose mark names them.
// RULE: R9
// EXPECT: ERROR_R9_operands_are_rotated_by_other_positions<.*append.*past.*rotated<
// VARIANTS: equal unused dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

extern tensor<float, batch, past, heads, d_k, rotated<d_k>> k_turned;

void layer() {
#ifdef FIXED
  rotated_cache.append(rotary<past, d_k>(k_new), v_new);
#else
  rotated_cache.append(k_turned, v_new);
#endif
}
