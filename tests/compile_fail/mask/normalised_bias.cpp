// MISTAKE: attention weights of one layer are added to the scores of the next.
// RULE: R5
// EXPECT: ERROR_R5_already_normalised<.*biased.*normalised<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = biased(s, plain(a));
#else
  RESULT r = biased(s, a);
#endif
}
