// MISTAKE: the lengths of the sequences are given for their mask.
// RULE: R7
// EXPECT: ERROR_R7_given_mask_is_a_tensor_of_bool<.*cross_entropy.*batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<int, batch>& given) {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens, padding<seq>(given));
#else
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens, given);
#endif
}
