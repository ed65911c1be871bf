// MISTAKE: keys of the grouped heads go into a cache of all heads.
// RULE: R10
// EXPECT: ERROR_R10_operands_differ_in_another_dimension<.*append.*past.*kv_heads
// VARIANTS: equal unused dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  cache.append(k_new, v_new);
#else
  cache.append(k_of_others, v_new);
#endif
}
