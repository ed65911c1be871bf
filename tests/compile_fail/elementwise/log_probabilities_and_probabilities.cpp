// MISTAKE: log-probabilities of one model are added to the probabilities of another.
// RULE: R5
// EXPECT: ERROR_R5_log_probabilities_meet_probabilities<.*elementwise.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT sums = log_softmax<vocab>(logits) + log(softmax<vocab>(2 * logits));
#else
  RESULT sums = log_softmax<vocab>(logits) + softmax<vocab>(2 * logits);
#endif
}
