// MISTAKE: the logits are normalised over the examples.
// RULE: R13
// EXPECT: ERROR_R13_softmax_takes_attendable_or_choice<.*cross_entropy.*batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens);
#else
  [[maybe_unused]] const auto loss = cross_entropy<batch>(logits, tokens);
#endif
}
