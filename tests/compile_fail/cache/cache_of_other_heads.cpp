// MISTAKE: a cache whose values have other heads than its keys.
// RULE: R10
// EXPECT: ERROR_R10_operands_differ_in_another_dimension<.*append.*past.*kv_heads
// VARIANTS: equal unused dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  nn::kv_cache<past, nn::capacity<64>, key_cache, value_cache>* mine = nullptr;
  (void)sizeof(*mine);
#else
  nn::kv_cache<past, nn::capacity<64>, key_cache, nn::values<float, batch, kv_heads, past, d_v>>* mine = nullptr;
  (void)sizeof(*mine);
#endif
}
