// MISTAKE: the elements that count are a tensor of bool, without saying what true means.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*binary_cross_entropy.*batch.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<bool, batch, seq>& given) {
#ifdef FIXED
  [[maybe_unused]] const auto loss = binary_cross_entropy(x, x, allow(given));
#else
  [[maybe_unused]] const auto loss = binary_cross_entropy(x, x, given);
#endif
}
