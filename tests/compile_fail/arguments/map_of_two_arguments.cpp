// MISTAKE: the function that `map` is given takes two numbers, and there is one operand.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*map
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = map([](float z, float t) { return z * t; }, x, x);
#else
  RESULT y = map([](float z, float t) { return z * t; }, x);
#endif
}
