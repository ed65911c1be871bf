// MISTAKE: a cache of values that are rotated.
// RULE: R9
// EXPECT: ERROR_R9_values_are_not_rotated<.*append.*past.*rotated<
// VARIANTS: equal unused dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  nn::kv_cache<past, nn::capacity<64>, rotated_key_cache, value_cache>* mine = nullptr;
  (void)sizeof(*mine);
#else
  nn::kv_cache<past, nn::capacity<64>, key_cache, nn::values<float, batch, heads, past, d_v, rotated<d_v, seq>>>* mine =
      nullptr;
  (void)sizeof(*mine);
#endif
}
