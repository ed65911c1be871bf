// MISTAKE: the tied output is given words instead of features.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*d_model
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = words.logits(x);
#else
  RESULT y = words.logits(sentence);
#endif
}
