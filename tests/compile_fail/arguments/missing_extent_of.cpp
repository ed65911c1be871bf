// MISTAKE: the extent of a dimension that is not there.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*d_ff.*batch
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  (void)extent_of<d_model>(x);
#else
  (void)extent_of<d_ff>(x);
#endif
}
