// MISTAKE: a cache grows along the positions of the queries, its keys and values along their own; its use adds no error.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*append.*now.*past
#include "cache_prelude.hpp"

void step() {
#ifdef FIXED
  nn::kv_cache<past, nn::capacity<64>, key_cache, value_cache> grown(batch{2});
#else
  nn::kv_cache<now, nn::capacity<64>, key_cache, value_cache> grown(batch{2});
#endif
  grown.append(k_new, v_new);
  RESULT y = nn::attend<now>(grown, [](const auto& k) { return scores<d_k>(k_now, k); });
  RESULT s = masked(scores<d_k>(k_now, grown.keys()), grown.mask<now>());
}
