// MISTAKE: the function that attend takes returns products that are not scaled.
// RULE: R6
// LINES(gcc): 12
// LINES(clang): 13
// EXPECT: R6, R7: attend softmaxes what its function returns
// EXPECT: ERROR_R6_raw_products_are_scaled_first<.*softmax.*past
// VARIANTS: unused
#include "cache_prelude.hpp"

void step() {
#ifdef FIXED
  RESULT y = nn::attend<now>(cache, [](const auto& k) { return scores<d_k>(k_now, k); });
#else
  RESULT y = nn::attend<now>(cache, [](const auto& k) { return contract<d_k>(k_now, k); });
#endif
}
