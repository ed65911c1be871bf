// MISTAKE: keys without heads are written into a cache that has them.
// RULE: R8
// EXPECT: ERROR_R8_assignment_never_broadcasts<.*assign.*heads
// FROM: cache write relies on broadcast of a missing axis
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(tensor<float, batch, key, heads, d_k>& cache, const tensor<float, batch, key, d_k>& keys) {
#ifdef FIXED
  cache = k;
#else
  cache = keys;
#endif
}
