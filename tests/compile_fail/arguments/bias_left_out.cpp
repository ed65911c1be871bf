// MISTAKE: biased without a bias.
// RULE: R1
// EXPECT: ERROR_R1_argument_is_missing<.*biased.*bias
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, seq, key> extern_bias;

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(biased(s, extern_bias));
#else
  RESULT y = softmax<key>(biased(s));
#endif
}
