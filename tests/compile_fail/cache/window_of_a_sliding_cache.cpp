// MISTAKE: a window is set at run time on a cache that has one in its type.
// RULE: R10
// EXPECT: ERROR_R10_cache_of_another_kind_has_this_member<.*keep_window.*past
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void step(nn::kv_cache<past, nn::sliding<8>, key_cache, value_cache>& window_cache) {
#ifdef FIXED
  window_cache.restart();
#else
  window_cache.keep_window(4);
#endif
}
