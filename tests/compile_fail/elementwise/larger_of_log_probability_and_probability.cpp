// MISTAKE: the larger of a log-probability and a probability is taken.
// RULE: R5
// EXPECT: ERROR_R5_log_probabilities_meet_probabilities<.*maximum.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT larger = max(log_softmax<vocab>(logits), log(softmax<vocab>(2 * logits)));
#else
  RESULT larger = max(log_softmax<vocab>(logits), softmax<vocab>(2 * logits));
#endif
}
