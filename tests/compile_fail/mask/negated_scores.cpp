// MISTAKE: masked scores are negated: what was hidden becomes the largest.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_are_given_to_a_function<.*masked_for<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = masked(-s, causal<seq, key>{});
#else
  RESULT r = -masked(s, causal<seq, key>{});
#endif
}
