// MISTAKE: tensors of numbers are combined like conditions.
// RULE: R7
// EXPECT: ERROR_R7_tensor_is_no_condition<.*seq.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"

void step() {
#ifdef FIXED
  [[maybe_unused]] const auto both = sum<batch, seq, d_model>(x) > 0.0F && true;
#else
  [[maybe_unused]] const auto both = x && x;
#endif
}
