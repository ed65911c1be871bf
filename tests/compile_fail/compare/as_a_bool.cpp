// MISTAKE: two tensors are compared, and the answer is stored as one bool.
// RULE: R7
// EXPECT: ERROR_R7_tensor_is_no_condition<.*seq.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void step() {
#ifdef FIXED
  [[maybe_unused]] const bool same = max<batch, seq, d_model>(abs(x - x)) < 1e-6F;
#else
  [[maybe_unused]] const bool same = x == x;
#endif
}
