// MISTAKE: attention over a cache under its mask names the features, not the positions of the queries.
// RULE: R13
// EXPECT: ERROR_R13_needs_ordered_positions<.*causal.*d_k
// VARIANTS: equal dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void step(const tensor<float, batch, now, heads, d_k>& q_now) {
#ifdef FIXED
  RESULT y = nn::attend<now>(cache, [&](const auto& keys) { return scores<d_k>(q_now, keys); });
#else
  RESULT y = nn::attend<d_k>(cache, [&](const auto& keys) { return scores<d_k>(q_now, keys); });
#endif
}
