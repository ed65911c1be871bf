// MISTAKE: the values are rotated, too.
// RULE: R9
// EXPECT: ERROR_R9_values_are_not_rotated<.*append.*past.*rotated<
// VARIANTS: equal unused dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  rotated_cache.append(rotary<past, d_k>(k_new), v_new);
#else
  rotated_cache.append(rotary<past, d_k>(k_new), rotary<past, d_v>(v_new));
#endif
}
