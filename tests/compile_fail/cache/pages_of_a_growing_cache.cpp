// MISTAKE: the keys of a page are read from a cache in one buffer.
// RULE: R10
// EXPECT: ERROR_R10_cache_of_another_kind_has_this_member<.*keys_of.*past
#include "cache_prelude.hpp"
#include <dimwise/nn.hpp>

void step(nn::kv_cache<past, nn::paged<16>, key_cache, value_cache>& pages) {
  [[maybe_unused]] const auto count = pages.page_count();
#ifdef FIXED
  [[maybe_unused]] const auto keys = pages.keys_of(0);
#else
  [[maybe_unused]] const auto keys = cache.keys_of(0);
#endif
}
