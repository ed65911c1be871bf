// MISTAKE: attention weights of one layer are added to the scores of the next.
// RULE: R5
// EXPECT: ERROR_R5_already_normalised<.*biased.*normalised<
// VARIANTS: equal dynamic
#include <dimwise/dimwise.hpp>

#include "../prelude.hpp"

void attention() {
#ifdef FIXED
  RESULT r = biased(s, plain(a));
#else
  RESULT r = biased(s, a);
#endif
}
