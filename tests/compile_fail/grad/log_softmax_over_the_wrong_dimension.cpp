// MISTAKE: probabilities were normalised over the positions instead of the words, before a loss that normalises itself.
// RULE: R22
// EXPECT: ERROR_R22_logits_are_log_probabilities<.*cross_entropy.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens);
#else
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(log_softmax<seq>(logits), tokens);
#endif
}
