// MISTAKE: what a mask hides is sorted among the rest.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_go_to_softmax_or_a_reduction<.*sort
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = sort<seq>(x);
#else
  RESULT r = sort<seq>(masked(x, padding<seq>(lengths)));
#endif
}
