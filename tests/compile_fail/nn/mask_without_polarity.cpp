// MISTAKE: a tensor of bool does not say what true means.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*masked
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = attends_memory(x, memory, allow_of(block(is_padding)));
#else
  RESULT y = attends_memory(x, memory, is_padding);
#endif
}
