// MISTAKE: a dimension is merged with itself.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*merge.*heads
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = merge<heads, d_v>(z);
#else
  RESULT r = merge<heads, heads>(z);
#endif
}
