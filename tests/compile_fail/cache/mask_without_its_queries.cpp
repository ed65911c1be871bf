// MISTAKE: the mask of a cache does not name the positions of the queries.
// RULE: R1
// EXPECT: ERROR_R1_operation_names_its_dimension<.*op::mask
// VARIANTS: equal dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void step(const tensor<float, batch, heads, now, past, score<d_k>>& s_now) {
#ifdef FIXED
  tensor w = softmax<past>(masked(s_now, cache.mask<now>()));
#else
  tensor w = softmax<past>(masked(s_now, cache.mask()));
#endif
}
