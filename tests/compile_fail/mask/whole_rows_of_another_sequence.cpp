// MISTAKE: rows are hidden by the padding of a sequence that the scores do not have.
// RULE: R7
// EXPECT: ERROR_R7_mask_has_dimensions_that_the_scores_lack<.*masked.*src
// VARIANTS: equal
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = masked(s, whole_rows(padding<seq>(lengths)));
#else
  RESULT r = masked(s, whole_rows(padding<src>(lengths)));
#endif
}
