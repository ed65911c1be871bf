// MISTAKE: a log-probability is compared with a probability.
// RULE: R5
// EXPECT: ERROR_R5_log_probabilities_meet_probabilities<.*compare.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, batch, seq, vocab, log_normalised<vocab>> stored;

void layer() {
#ifdef FIXED
  RESULT surer = exp(stored) > softmax<vocab>(logits);
#else
  RESULT surer = stored > softmax<vocab>(logits);
#endif
}
