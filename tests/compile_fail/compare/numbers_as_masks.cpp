// MISTAKE: tensors of numbers are combined like conditions.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*mask_and.*seq.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"

void step() {
#ifdef FIXED
  [[maybe_unused]] const auto both = allow(x > 0.0F) & allow(x < 1.0F);
#else
  [[maybe_unused]] const auto both = x & x;
#endif
}
