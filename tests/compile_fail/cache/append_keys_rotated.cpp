// MISTAKE: rotated keys go into a cache of keys that are not.
// RULE: R9
// EXPECT: ERROR_R9_only_one_operand_is_rotated<.*append.*past.*rotated<
// VARIANTS: equal unused dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  cache.append(k_new, v_new);
#else
  cache.append(rotary<past, d_k>(k_new), v_new);
#endif
}
