// MISTAKE: a product of one operand.
// RULE: R1
// EXPECT: ERROR_R1_argument_is_missing<.*contract.*d_model.*second_operand
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = contract<d_model>(x, w_q);
#else
  RESULT y = contract<d_model>(x);
#endif
}
