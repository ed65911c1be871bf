// MISTAKE: a number where a mask belongs.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*masked
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(masked(s, padding<key>(3)));
#else
  RESULT y = softmax<key>(masked(s, 3));
#endif
}
