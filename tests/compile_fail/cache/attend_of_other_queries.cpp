// MISTAKE: attention over a cache names the positions of another sequence.
// RULE: R7
// EXPECT: ERROR_R7_query_and_key_positions_are_related_or_have_origins<.*causal.*src.*past
// VARIANTS: equal dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void step() {
#ifdef FIXED
  tensor y = nn::attend<now>(cache, [](const auto& k) { return scores<d_k>(k_now, k); });
#else
  tensor y = nn::attend<src>(cache, [](const auto& k) { return scores<d_k>(k_now, k); });
#endif
}
