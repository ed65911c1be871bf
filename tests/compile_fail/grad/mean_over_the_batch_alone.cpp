// MISTAKE: the mean is said to go over the examples, and the loss has positions too.
// RULE: R22
// EXPECT: ERROR_R22_mean_goes_over_the_elements_of_the_loss<.*cross_entropy.*batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab, batch, seq>(logits, tokens);
#else
  [[maybe_unused]] const auto loss = cross_entropy<vocab, batch>(logits, tokens);
#endif
}
