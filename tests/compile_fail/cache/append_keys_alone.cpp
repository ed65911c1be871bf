// MISTAKE: keys are appended without their values.
// RULE: R10
// EXPECT: ERROR_R10_keys_and_values_grow_together<.*append.*past.*d_k
// VARIANTS: equal unused dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  cache.append(k_new, v_new);
#else
  cache.append(k_new);
#endif
}
