// MISTAKE: batch and heads are flattened in one order and taken apart in the other.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*split.*heads.*batch
// FROM: heads*batch flattened in one order, unflattened in the other
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = split<batch, heads>(merge<batch, heads>(z));
#else
  RESULT r = split<heads, batch>(merge<batch, heads>(z));
#endif
}
