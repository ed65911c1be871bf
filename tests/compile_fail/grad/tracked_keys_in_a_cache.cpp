// MISTAKE: keys that have a gradient go into a cache, which holds constants.
// RULE: R21
// EXPECT: ERROR_R21_operation_has_no_gradient<.*append.*past
// VARIANTS: equal unused dynamic
#include "../cache/cache_prelude.hpp"
#include <dimwise/grad.hpp>

extern tensor<tracked<float>, batch, past, heads, d_k> k_trained;

void train() {
#ifdef FIXED
  cache.append(detached(k_trained), v_new);
#else
  cache.append(k_trained, v_new);
#endif
}
