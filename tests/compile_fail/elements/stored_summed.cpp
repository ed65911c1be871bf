// MISTAKE: a sum of what is stored in 16 bits, which would be rounded at every step.
// RULE: R13
// EXPECT: ERROR_R13_stored_numbers_are_widened_first<.*sum.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float16, batch, seq, d_model> stored;

void total() {
#ifdef FIXED
  RESULT y = sum<seq>(widened(stored));
#else
  RESULT y = sum<seq>(stored);
#endif
}
