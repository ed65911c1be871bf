// MISTAKE: targets of all positions are looked up in one position's logits.
// RULE: R18
// EXPECT: ERROR_R18_indexed_meets_its_dimension<.*gather.*indexed<
// VARIANTS: equal dynamic
#include <dimwise/dimwise.hpp>

#include "../prelude.hpp"

void layer() {
#ifdef FIXED
  RESULT r = gather<vocab>(logits, tokens);
#else
  RESULT r = gather<vocab>(at<seq>(logits, 3), tokens);
#endif
}
