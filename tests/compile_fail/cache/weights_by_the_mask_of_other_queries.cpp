// MISTAKE: scores are masked by the mask of a cache for queries of another sequence.
// RULE: R7
// EXPECT: ERROR_R7_query_and_key_positions_are_related_or_have_origins<.*causal.*src.*past
// VARIANTS: equal dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void step(const tensor<float, batch, heads, now, past, score<d_k>>& s_now) {
#ifdef FIXED
  tensor w = softmax<past>(masked(s_now, cache.mask<now>()));
#else
  tensor w = softmax<past>(masked(s_now, cache.mask<src>()));
#endif
}
