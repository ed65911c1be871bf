// MISTAKE: a function of scores captures queries whose type names a dimension twice; attention adds no second error.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*now
#include "cache_prelude.hpp"
#include <dimwise/nn.hpp>

void step(const nn::kv_cache<past, nn::paged<16>, key_cache, value_cache>& pages) {
#ifdef FIXED
  const tensor<float, batch, now, heads, d_k> q_now;
#else
  const tensor<float, batch, now, now, d_k> q_now;
#endif
  RESULT y = nn::attend<now>(pages, [&](const auto& k) { return scores<d_k>(q_now, k); });
}
