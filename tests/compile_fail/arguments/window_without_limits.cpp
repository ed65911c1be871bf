// MISTAKE: a window without its limits.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*window.*seq.*key
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  auto m = window<seq, key>{3, 0};
#else
  auto m = window<seq, key>{};
#endif
}
