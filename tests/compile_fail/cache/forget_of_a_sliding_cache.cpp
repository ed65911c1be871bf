// MISTAKE: drafts are removed from a sliding cache.
// RULE: R10
// EXPECT: ERROR_R10_sliding_cache_has_no_positions_to_go_back_to<.*past
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void step(nn::kv_cache<past, nn::sliding<64>, key_cache, value_cache>& window_cache) {
#ifdef FIXED
  window_cache.restart(3);
  cache.forget(2);
#else
  window_cache.forget(2);
#endif
}
