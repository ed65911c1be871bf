// MISTAKE: one position takes attended values that were not projected back.
// RULE: R10
// EXPECT: ERROR_R10_operands_differ_in_another_dimension<.*replace_at.*operand_shape<.*batch, .*d_model>, .*operand_shape<.*batch, .*heads, .*d_v, .*indexed<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = replace_at<seq>(x, 0, contract<heads, d_v>(at<seq>(z, 1), w_o));
#else
  RESULT r = replace_at<seq>(x, 0, at<seq>(z, 1));
#endif
}
