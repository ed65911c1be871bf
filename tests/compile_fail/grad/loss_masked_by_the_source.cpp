// MISTAKE: padding of the source hides positions that the loss does not have.
// RULE: R22
// EXPECT: ERROR_R22_weights_have_other_dimensions<.*cross_entropy.*src
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens, padding<seq>(lengths));
#else
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens, padding<src>(lengths));
#endif
}
