// MISTAKE: attention over a cache is given the queries, not the function that gives the scores of the keys.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*attend
// VARIANTS: dynamic unused
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void step(const tensor<float, batch, now, heads, d_k>& q_now) {
#ifdef FIXED
  RESULT y = nn::attend<now>(cache, [&](const auto& keys) { return scores<d_k>(q_now, keys); });
#else
  RESULT y = nn::attend<now>(cache, q_now);
#endif
}
