// MISTAKE: the loss takes the sigmoid of probabilities.
// RULE: R22
// EXPECT: ERROR_R22_logits_are_probabilities<.*binary_cross_entropy.*batch.*seq.*vocab
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = binary_cross_entropy(logits, one_hot<vocab>(tokens));
#else
  [[maybe_unused]] const auto loss = binary_cross_entropy(sigmoid(logits), one_hot<vocab>(tokens));
#endif
}
