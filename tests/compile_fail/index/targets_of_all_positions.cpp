// MISTAKE: targets of all positions are looked up in one position's logits.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*gather.*indexed<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = gather<vocab>(logits, tokens);
#else
  RESULT r = gather<vocab>(at<seq>(logits, 3), tokens);
#endif
}
