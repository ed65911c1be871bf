// MISTAKE: a row of the decoder is written along the encoder's positions.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*assign_at.*src
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(tensor<float, batch, seq, d_model>& state, const tensor<float, batch, d_model>& row) {
#ifdef FIXED
  assign_at<seq>(state, 0, row);
#else
  assign_at<src>(state, 0, row);
#endif
}
