// MISTAKE: a cache in pages is restarted; an empty one takes its place.
// RULE: R10
// EXPECT: ERROR_R10_cache_of_another_kind_has_this_member<.*restart.*past
#include "cache_prelude.hpp"
#include <dimwise/nn.hpp>

void step(nn::kv_cache<past, nn::paged<16>, key_cache, value_cache>& pages) {
#ifdef FIXED
  cache.restart();
  pages.forget(pages.length());
#else
  pages.restart();
#endif
}
