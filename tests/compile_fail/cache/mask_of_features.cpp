// MISTAKE: scores are masked by the mask of a cache for a dimension without positions.
// RULE: R13
// EXPECT: ERROR_R13_needs_ordered_positions<.*causal.*d_k.*past
// VARIANTS: equal dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void step(const tensor<float, batch, heads, now, past, score<d_k>>& s_now) {
#ifdef FIXED
  tensor w = softmax<past>(masked(s_now, cache.mask<now>()));
#else
  tensor w = softmax<past>(masked(s_now, cache.mask<d_k>()));
#endif
}
