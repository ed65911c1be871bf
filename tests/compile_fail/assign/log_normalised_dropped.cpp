// MISTAKE: the declared type forgets that these are log-probabilities.
// RULE: R5
// EXPECT: ERROR_R5_declared_type_drops_or_invents_normalised<.*vocab.*log_normalised
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  [[maybe_unused]] tensor<float, batch, seq, vocab, log_normalised<vocab>> y = log_softmax<vocab>(logits);
#else
  [[maybe_unused]] tensor<float, batch, seq, vocab> y = log_softmax<vocab>(logits);
#endif
}
