// MISTAKE: keys that are not rotated go into a cache of rotated ones.
// RULE: R9
// EXPECT: ERROR_R9_only_one_operand_is_rotated<.*append.*past.*rotated<
// VARIANTS: equal unused dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  rotated_cache.append(rotary<past, d_k>(k_new), v_new);
#else
  rotated_cache.append(k_new, v_new);
#endif
}
