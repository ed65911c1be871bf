// MISTAKE: the teacher's log-probabilities are normalised over the positions.
// RULE: R22
// EXPECT: ERROR_R22_targets_sum_to_one_over_another_dimension<.*kl_divergence.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<float, batch, seq, vocab> teacher;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = kl_divergence<vocab>(logits, log_softmax<vocab>(teacher));
#else
  [[maybe_unused]] const auto loss = kl_divergence<vocab>(logits, log_softmax<seq>(teacher));
#endif
}
