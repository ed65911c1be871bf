// MISTAKE: a mask added to scores.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*elementwise
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(masked(s, padding<key>(lengths)));
#else
  RESULT y = softmax<key>(s + padding<key>(lengths));
#endif
}
