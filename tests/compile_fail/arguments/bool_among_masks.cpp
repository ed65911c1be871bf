// MISTAKE: a mask and a truth value.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*bool
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  auto m = padding<key>(lengths) & padding<key>(3);
#else
  auto m = padding<key>(lengths) & true;
#endif
}
