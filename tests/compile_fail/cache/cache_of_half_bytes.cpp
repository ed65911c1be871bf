// MISTAKE: keys of 4 bits, two in a byte along the positions, of which every append would bring half a byte.
// RULE: R10
// EXPECT: ERROR_R10_cache_grows_by_whole_bytes<.*append.*past
// VARIANTS: equal unused dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  nn::kv_cache<past, nn::capacity<64>, nn::keys<nn::int4_by<>, batch, heads, past, d_k>, value_cache>* mine = nullptr;
  (void)sizeof(*mine);
#else
  nn::kv_cache<past, nn::capacity<64>, nn::keys<nn::int4_by<>, batch, heads, d_k, past>, value_cache>* mine = nullptr;
  (void)sizeof(*mine);
#endif
}
