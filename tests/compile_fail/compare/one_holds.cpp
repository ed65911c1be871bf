// MISTAKE: two comparisons of which one holds, joined as C++ joins bits.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*mask_or.*seq.*d_model
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = where(allow(x < 0.0F) | allow(x > 1.0F), x, 0.0F);
#else
  RESULT y = where((x < 0.0F) | (x > 1.0F), x, 0.0F);
#endif
}
