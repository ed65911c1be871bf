// MISTAKE: one element of a merged dimension, by one number.
// RULE: R18
// EXPECT: ERROR_R18_ids_of_a_composite_are_split_first<.*at.*merged<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = at<heads>(z, 1);
#else
  RESULT r = at<merged<heads, d_v>>(merge<heads, d_v>(z), 3);
#endif
}
