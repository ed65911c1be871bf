// MISTAKE: `map` is called without a function.
// RULE: R1
// EXPECT: ERROR_R1_argument_is_missing<.*map.*function
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = map([](float z) { return z * z; }, x);
#else
  RESULT y = map(x);
#endif
}
