// MISTAKE: log-probabilities are given to a loss that takes the sigmoid of its logits.
// RULE: R22
// EXPECT: ERROR_R22_logits_are_log_probabilities<.*binary_cross_entropy.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<float, batch, seq, vocab> labels;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = binary_cross_entropy(logits, labels);
#else
  [[maybe_unused]] const auto loss = binary_cross_entropy(log_softmax<vocab>(logits), labels);
#endif
}
