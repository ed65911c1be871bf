// MISTAKE: the positions that count are a tensor of bool, without saying what true means.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*kl_divergence.*vocab.*batch.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<bool, batch, seq>& given) {
#ifdef FIXED
  [[maybe_unused]] const auto loss = kl_divergence<vocab>(logits, logits, allow(given));
#else
  [[maybe_unused]] const auto loss = kl_divergence<vocab>(logits, logits, given);
#endif
}
