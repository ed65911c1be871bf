// MISTAKE: weights of a softmax in the place of logits.
// RULE: R5
// EXPECT: ERROR_R5_already_normalised<.*binary_cross_entropy.*vocab
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = binary_cross_entropy(logits, one_hot<vocab>(tokens));
#else
  [[maybe_unused]] const auto loss = binary_cross_entropy(softmax<vocab>(logits), one_hot<vocab>(tokens));
#endif
}
