// MISTAKE: softmax of what sums to one already.
// RULE: R5
// EXPECT: ERROR_R5_already_normalised<.*softmax.*normalised<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(s);
#else
  RESULT r = softmax<key>(softmax<key>(s));
#endif
}
