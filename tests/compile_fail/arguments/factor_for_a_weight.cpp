// MISTAKE: a number where a weight belongs.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*contract.*d_model
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = contract<d_model>(x, w_q);
#else
  RESULT y = contract<d_model>(x, 3);
#endif
}
