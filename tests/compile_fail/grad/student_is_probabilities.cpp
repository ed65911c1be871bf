// MISTAKE: the student's probabilities are given to a divergence, which takes its logits.
// RULE: R5
// EXPECT: ERROR_R5_already_normalised<.*kl_divergence.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<float, batch, seq, vocab> teacher;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = kl_divergence<vocab>(logits, softmax<vocab>(teacher));
#else
  [[maybe_unused]] const auto loss = kl_divergence<vocab>(softmax<vocab>(teacher), logits);
#endif
}
