// MISTAKE: masked without a mask.
// RULE: R1
// EXPECT: ERROR_R1_argument_is_missing<.*masked.*mask
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(masked(s, padding<key>(lengths)));
#else
  RESULT y = softmax<key>(masked(s));
#endif
}
