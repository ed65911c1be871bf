// MISTAKE: a mask that is true where something is hidden stands behind the values of a module.
// RULE: R7
// EXPECT: ERROR_R7_block_mask_needs_allow_of<.*masked
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = attends_memory(x, memory, allow_of(block(is_padding)));
#else
  RESULT y = attends_memory(x, memory, block(is_padding));
#endif
}
