// MISTAKE: a mask of all that the operand has hides no row of it.
// RULE: R7
// EXPECT: ERROR_R7_masks_serve_no_common_dimension<.*masked
// VARIANTS: equal
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, batch, seq>& t) {
#ifdef FIXED
  RESULT r = masked(t, padding<seq>(lengths));
#else
  RESULT r = masked(t, whole_rows(padding<seq>(lengths)));
#endif
}
