// MISTAKE: a cumulative product over the batch, whose elements have no order.
// RULE: R13
// EXPECT: ERROR_R13_needs_ordered_positions<.*cumprod.*batch
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = cumprod<seq>(x);
#else
  RESULT r = cumprod<batch>(x);
#endif
}
