// MISTAKE: a loss that applies log_softmax is given probabilities.
// RULE: R5
// EXPECT: ERROR_R5_already_normalised<.*log_softmax
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = log_softmax<vocab>(logits);
#else
  RESULT r = log_softmax<vocab>(softmax<vocab>(logits));
#endif
}
