// MISTAKE: a residual added to what is stored in 16 bits.
// RULE: R13
// EXPECT: ERROR_R13_stored_numbers_are_widened_first<.*elementwise.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bfloat16, batch, seq, d_model> stored;

void residual() {
#ifdef FIXED
  RESULT y = widened(stored) + x;
#else
  RESULT y = stored + x;
#endif
}
