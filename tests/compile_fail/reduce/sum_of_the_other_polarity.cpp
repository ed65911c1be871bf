// MISTAKE: a sum over words, given a mask in which true means hidden.
// RULE: R7
// EXPECT: ERROR_R7_block_mask_needs_allow_of<.*sum.*batch.*seq.*d_model.*batch.*seq
#include "../prelude.hpp"

void layer(const tensor<bool, batch, seq>& is_padding) {
#ifdef FIXED
  RESULT y = sum<seq>(x, allow_of(block(is_padding)));
#else
  RESULT y = sum<seq>(x, block(is_padding));
#endif
}
