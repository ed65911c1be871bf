// MISTAKE: stored log-probabilities of one model are added to the probabilities of another.
// RULE: R5
// EXPECT: ERROR_R5_log_probabilities_meet_probabilities<.*elementwise.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, batch, seq, vocab, log_normalised<vocab>> stored;

void layer() {
#ifdef FIXED
  RESULT sums = exp(stored) + softmax<vocab>(2 * logits);
#else
  RESULT sums = stored + softmax<vocab>(2 * logits);
#endif
}
