// MISTAKE: a loop runs while a tensor exceeds a number.
// RULE: R7
// EXPECT: ERROR_R7_tensor_is_no_condition<.*batch.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void step() {
#ifdef FIXED
  while (!(max<batch, seq>(mean<d_model>(x)) < 0.1F)) { x = x * 0.5F; }
#else
  while (mean<d_model>(x) > 0.1F) { x = x * 0.5F; }
#endif
}
