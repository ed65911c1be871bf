// MISTAKE: two tensors are compared where one truth is needed.
// RULE: R7
// EXPECT: ERROR_R7_tensor_is_no_condition<.*seq.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void step() {
#ifdef FIXED
  RESULT y = where(x == x, x, 0.0F);
#else
  if (x == x) { RESULT y = x + x; }
#endif
}
