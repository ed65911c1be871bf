// MISTAKE: logits of a vocabulary are taken for attention scores.
// RULE: R6
// EXPECT: ERROR_R6_scores_are_products_of_positions<.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<d_model>(x, embedding);
#else
  RESULT r = scores<d_model>(x, embedding);
#endif
}
