// MISTAKE: a mask that is true where something is padding is given to a loss.
// RULE: R7
// EXPECT: ERROR_R7_block_mask_needs_allow_of<.*cross_entropy.*batch.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<bool, batch, seq>& given) {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens, allow_of(block(given)));
#else
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens, block(given));
#endif
}
