// MISTAKE: a tensor times a pointer.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*elementwise
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern const float* p;
  RESULT y = x * *p;
#else
  extern const float* p;
  RESULT y = x * p;
#endif
}
