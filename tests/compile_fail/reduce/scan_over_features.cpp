// MISTAKE: a running sum over features.
// RULE: R13
// EXPECT: ERROR_R13_needs_ordered_positions<.*scan.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = scan<seq>(x);
#else
  RESULT r = scan<d_model>(x);
#endif
}
