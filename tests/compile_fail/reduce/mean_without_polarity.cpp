// MISTAKE: a mean over words that a tensor of bool chooses, and whether true means a word is not said.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*mean.*batch.*seq.*d_model.*batch.*seq
#include "../prelude.hpp"

void layer(const tensor<bool, batch, seq>& is_word) {
#ifdef FIXED
  RESULT y = mean<seq>(x, allow(is_word));
#else
  RESULT y = mean<seq>(x, is_word);
#endif
}
