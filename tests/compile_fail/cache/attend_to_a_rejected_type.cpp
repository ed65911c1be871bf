// MISTAKE: the scores are given as a tensor whose type names a dimension twice; `attend` adds no second error.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*now
// VARIANTS: unused
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

#ifndef FIXED
extern const tensor<float, now, now> repeated;
#endif

void step(const tensor<float, batch, now, heads, d_k>& q_now) {
#ifdef FIXED
  RESULT y = nn::attend<now>(cache, [&](const auto& k) { return scores<d_k>(q_now, k); });
#else
  (void)q_now;
  RESULT y = nn::attend<now>(cache, repeated);
#endif
}
