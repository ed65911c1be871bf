// MISTAKE: masked values are summed up one after the other.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_go_to_softmax_or_a_reduction<.*cumsum
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = cumsum<seq>(x);
#else
  RESULT r = cumsum<seq>(masked(x, padding<seq>(lengths)));
#endif
}
