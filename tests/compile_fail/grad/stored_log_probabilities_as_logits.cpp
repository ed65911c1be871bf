// MISTAKE: stored log-probabilities are given to a loss that normalises its logits itself.
// RULE: R22
// EXPECT: ERROR_R22_logits_are_log_probabilities<.*cross_entropy.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<float, batch, seq, vocab, log_normalised<vocab>> stored;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = -mean<batch, seq>(gather<vocab>(stored, tokens));
#else
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(stored, tokens);
#endif
}
