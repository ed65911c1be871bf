// MISTAKE: the loss is given probabilities and normalises them again.
// RULE: R5
// EXPECT: ERROR_R5_already_normalised<.*cross_entropy.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens);
#else
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(softmax<vocab>(logits), tokens);
#endif
}
