// MISTAKE: keys of this step are appended as if they were the past already.
// RULE: R3
// EXPECT: ERROR_R3_values_are_at_other_positions_than_the_weights<.*append.*past.*now
// VARIANTS: equal unused dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  cache.append(rename<now, past>(k_now), v_new);
#else
  cache.append(k_now, v_new);
#endif
}
