// MISTAKE: masked values are multiplied one after the other.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_go_to_softmax_or_a_reduction<.*cumprod
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = cumprod<seq>(x);
#else
  RESULT r = cumprod<seq>(masked(x, padding<seq>(lengths)));
#endif
}
