// MISTAKE: keys and values are swapped.
// RULE: R16
// EXPECT: ERROR_R16_query_key_and_value_are_told_apart_by_dimensions<.*append.*past.*d_v
// VARIANTS: equal unused dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  cache.append(k_new, v_new);
#else
  cache.append(v_new, k_new);
#endif
}
