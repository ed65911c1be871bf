// MISTAKE: a rename that says one name.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*rename.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = rename<seq, key>(x);
#else
  RESULT y = rename<seq>(x);
#endif
}
