// MISTAKE: a truth value added to a tensor.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*elementwise.*bool
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = x + 1;
#else
  RESULT y = x + true;
#endif
}
