// MISTAKE: the keys are renamed, but they are called `seq` here.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*rename.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = rename<seq, key>(x);
#else
  RESULT r = rename<key, seq>(x);
#endif
}
