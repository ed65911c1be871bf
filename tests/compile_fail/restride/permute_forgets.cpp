// MISTAKE: an order that leaves out a dimension.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*permute.*seq.*heads.*d_k
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = permute<batch, seq, heads, d_k>(q);
#else
  RESULT r = permute<seq, heads, d_k>(q);
#endif
}
