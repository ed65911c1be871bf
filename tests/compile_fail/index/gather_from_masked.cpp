// MISTAKE: elements are taken from masked values.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_go_to_softmax_or_a_reduction<.*gather
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<bool, vocab>& bits) {
#ifdef FIXED
  RESULT r = gather<vocab>(logits, tokens);
#else
  RESULT r = gather<vocab>(masked(logits, allow(bits)), tokens);
#endif
}
