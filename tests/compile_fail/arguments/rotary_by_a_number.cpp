// MISTAKE: a base as a bare number.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*rotary.*seq.*d_k
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = rotary<seq, d_k>(q, {.base = 10000.0});
#else
  RESULT y = rotary<seq, d_k>(q, 10000.0);
#endif
}
