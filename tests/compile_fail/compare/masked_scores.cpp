// MISTAKE: masked scores are compared with a threshold: hidden ones would count as small.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_are_given_to_a_function<.*compare.*masked_for<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void threshold() {
#ifdef FIXED
  RESULT y = s > 0.5F;
#else
  RESULT y = masked(s, causal<seq, key>{}) > 0.5F;
#endif
}
