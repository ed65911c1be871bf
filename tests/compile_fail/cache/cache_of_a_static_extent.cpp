// MISTAKE: a cache that grows along a dimension whose extent is fixed.
// RULE: R10
// EXPECT: ERROR_R10_cache_grows_along_a_run_time_extent<.*append.*fixed
// VARIANTS: equal unused dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

struct fixed : position_dim<64> {};

#ifdef FIXED
using grows = past;
#else
using grows = fixed;
#endif

void layer() {
  nn::kv_cache<grows, nn::capacity<64>, nn::keys<float, batch, heads, grows, d_k>,
               nn::values<float, batch, heads, grows, d_v>>* mine = nullptr;
  (void)sizeof(*mine);
}
