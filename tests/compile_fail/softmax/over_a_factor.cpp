// MISTAKE: softmax names a dimension that is hidden in a merged one.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*softmax.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(s);
#else
  RESULT r = softmax<key>(merge<heads, key>(s));
#endif
}
