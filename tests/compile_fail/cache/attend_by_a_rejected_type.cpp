// MISTAKE: the function of scores captures queries whose type names a dimension twice; `attend` adds no second error.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*now
// VARIANTS: unused
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void step() {
#ifdef FIXED
  const tensor<float, batch, now, heads, d_k> q_now;
#else
  const tensor<float, batch, now, now, d_k> q_now;
#endif
  RESULT y = nn::attend<now>(cache, [&](const auto& k) { return scores<d_k>(q_now, k); });
}
