// MISTAKE: numbers of 16 bits are compared as they are stored.
// RULE: R13
// EXPECT: ERROR_R13_stored_numbers_are_widened_first<.*compare.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bfloat16, batch, seq, d_model> stored;

void threshold() {
#ifdef FIXED
  RESULT y = widened(stored) > 0.5F;
#else
  RESULT y = stored > 0.5F;
#endif
}
