// MISTAKE: masked values are summed up one after the other.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_go_to_softmax_or_a_reduction<.*scan
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = scan<seq>(x);
#else
  RESULT r = scan<seq>(masked(x, padding<seq>(lengths)));
#endif
}
