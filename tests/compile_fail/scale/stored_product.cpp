// MISTAKE: the product was stored, and the number of its features is lost.
// RULE: R6
// EXPECT: ERROR_R6_stored_product_has_lost_the_extent_of_its_features<.*width, .*run_time
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct width : feature_dim<> {};

void attention(const tensor<float, batch, seq, key, raw<width>>& stored) {
#ifdef FIXED
  RESULT r = scaled(stored, 0.125F);
#else
  RESULT r = scaled<width>(stored);
#endif
}
