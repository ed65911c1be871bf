// MISTAKE: a cache without a window is asked how many positions fit beside it.
// RULE: R10
// EXPECT: ERROR_R10_cache_of_another_kind_has_this_member<.*at_once.*past
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void step() {
#ifdef FIXED
  [[maybe_unused]] const auto room = cache.limit() - cache.length();
#else
  [[maybe_unused]] const auto room = cache.at_once();
#endif
}
