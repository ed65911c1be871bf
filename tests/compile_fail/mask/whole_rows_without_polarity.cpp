// MISTAKE: rows are hidden by a tensor that does not say what true means.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*whole_rows.*seq
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<bool, seq>& some) {
#ifdef FIXED
  RESULT r = masked(s, whole_rows(allow(some)));
#else
  RESULT r = masked(s, whole_rows(some));
#endif
}
