// MISTAKE: the mean of the divergence goes over the words as well, which makes it smaller by their number.
// RULE: R22
// EXPECT: ERROR_R22_mean_goes_over_the_elements_of_the_loss<.*kl_divergence.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<float, batch, seq, vocab> teacher;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = kl_divergence<vocab, batch, seq>(logits, teacher);
#else
  [[maybe_unused]] const auto loss = kl_divergence<vocab, batch, seq, vocab>(logits, teacher);
#endif
}
