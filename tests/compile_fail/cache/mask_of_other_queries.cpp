// MISTAKE: the mask of a cache for queries of another sequence.
// RULE: R7
// EXPECT: ERROR_R7_query_and_key_positions_are_related_or_have_origins<.*causal.*src.*past
// VARIANTS: equal dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void step() {
#ifdef FIXED
  [[maybe_unused]] const auto m = cache.mask<now>();
#else
  [[maybe_unused]] const auto m = cache.mask<src>();
#endif
}
