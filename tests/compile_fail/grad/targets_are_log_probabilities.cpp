// MISTAKE: the targets of a cross-entropy are the logarithms of a teacher's probabilities.
// RULE: R22
// EXPECT: ERROR_R22_targets_are_log_probabilities<.*cross_entropy.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<float, batch, seq, vocab, log_normalised<vocab>> teacher;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, exp(teacher));
#else
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, teacher);
#endif
}
