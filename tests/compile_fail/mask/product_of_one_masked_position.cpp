// MISTAKE: one position of masked values, which may be hidden, is contracted.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_go_to_softmax_or_a_reduction<.*contract.*d_model
// VARIANTS: unused
#include "../prelude.hpp"

void layer(const tensor<int, batch>& sizes) {
#ifdef FIXED
  RESULT y = contract<d_model>(at<seq>(x, 2), w_q);
#else
  RESULT y = contract<d_model>(at<seq>(masked(x, padding<seq>(sizes)), 2), w_q);
#endif
}
