// MISTAKE: rows of the encoder are written among those of the decoder.
// RULE: R10
// EXPECT: ERROR_R10_operands_differ_in_another_dimension<.*assign_at.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(tensor<float, batch, seq, d_model>& state) {
#ifdef FIXED
  assign_at<seq>(state, 0, x);
#else
  assign_at<seq>(state, 0, memory);
#endif
}
