// MISTAKE: an elementwise product where a contraction was meant.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*d_model.*heads
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = contract<d_model>(x, w_q);
#else
  RESULT r = x * w_q;
#endif
}
