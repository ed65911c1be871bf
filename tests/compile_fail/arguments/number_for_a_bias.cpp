// MISTAKE: a number where a bias belongs.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*biased
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, seq, key> extern_bias;

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(biased(s, extern_bias));
#else
  RESULT y = softmax<key>(biased(s, 3.0F));
#endif
}
