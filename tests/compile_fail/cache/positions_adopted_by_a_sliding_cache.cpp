// MISTAKE: positions of a buffer are adopted by a cache that keeps the last ones.
// RULE: R10
// EXPECT: ERROR_R10_cache_of_another_kind_has_this_member<.*adopt.*past
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void step(nn::kv_cache<past, nn::sliding<8>, key_cache, value_cache>& window_cache) {
#ifdef FIXED
  window_cache.restart(3);
  cache.adopt(3);
#else
  window_cache.adopt(3);
#endif
}
