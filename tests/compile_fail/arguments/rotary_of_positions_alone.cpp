// MISTAKE: rotary without its feature.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*rotary.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = rotary<seq, d_k>(q);
#else
  RESULT y = rotary<seq>(q);
#endif
}
