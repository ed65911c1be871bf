// MISTAKE: a tensor of numbers is the condition of an if, as in Python.
// RULE: R7
// EXPECT: ERROR_R7_tensor_is_no_condition<.*seq.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void step() {
#ifdef FIXED
  if (max<batch, seq, d_model>(abs(x)) > 0.0F) { RESULT y = x + x; }
#else
  if (x) { RESULT y = x + x; }
#endif
}
