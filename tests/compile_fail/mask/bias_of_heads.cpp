// MISTAKE: a number for each head is added: softmax gives the same weights.
// RULE: R7
// EXPECT: ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over<.*biased.*heads.*rhs<.*heads
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, heads> of_heads;
extern tensor<float, heads, key> of_keys;

void layer() {
#ifdef FIXED
  RESULT r = biased(s, of_keys);
#else
  RESULT r = biased(s, of_heads);
#endif
}
