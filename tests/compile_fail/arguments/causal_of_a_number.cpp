// MISTAKE: a causal mask that is given a number.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*causal.*seq.*key
// VARIANTS: equal
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  auto m = window<seq, key>{3, 0};
#else
  auto m = causal<seq, key>{3};
#endif
}
