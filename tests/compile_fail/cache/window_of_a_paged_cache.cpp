// MISTAKE: a window is set at run time on a cache in pages, which keeps all positions.
// RULE: R10
// EXPECT: ERROR_R10_cache_of_another_kind_has_this_member<.*keep_window.*past
#include "cache_prelude.hpp"
#include <dimwise/nn.hpp>

void step(nn::kv_cache<past, nn::windowed, key_cache, value_cache>& window_cache,
          nn::kv_cache<past, nn::paged<16>, key_cache, value_cache>& pages) {
  window_cache.keep_window(8);
#ifdef FIXED
  pages.forget(0);
#else
  pages.keep_window(8);
#endif
}
