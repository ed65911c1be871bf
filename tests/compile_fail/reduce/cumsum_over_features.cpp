// MISTAKE: a running sum over features.
// RULE: R13
// EXPECT: ERROR_R13_needs_ordered_positions<.*cumsum.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = cumsum<seq>(x);
#else
  RESULT r = cumsum<d_model>(x);
#endif
}
