// MISTAKE: a mask of integers, 1 for what is visible, is added to the scores as if it were a bias.
// RULE: R13
// EXPECT: ERROR_R13_needs_real_numbers<.*biased
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<int, batch, key> seen;

void weights() {
#ifdef FIXED
  RESULT y = softmax<key>(masked(s, allow(seen == 1)));
#else
  RESULT y = softmax<key>(s + seen);
#endif
}
