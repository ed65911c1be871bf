// MISTAKE: a function takes raw products as an expr and gives them to softmax.
// RULE: R6
// EXPECT: ERROR_R6_raw_products_are_scaled_first<.*softmax.*raw<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void weights(const expr<float, shape<batch, heads, seq, key, raw<d_k>>>& p,
             [[maybe_unused]] const expr<float, shape<batch, heads, seq, key, score<d_k>>>& scaled_products) {
#ifdef FIXED
  (void)p;
  RESULT r = softmax<key>(scaled_products);
#else
  RESULT r = softmax<key>(p);
#endif
}
