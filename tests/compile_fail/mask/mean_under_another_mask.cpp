// MISTAKE: the mean over the sequence, under a mask that hides keys.
// RULE: R7
// EXPECT: ERROR_R7_
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = mean<seq>(x, padding<seq>(lengths));
#else
  RESULT r = mean<seq>(x, padding<src>(lengths));
#endif
}
