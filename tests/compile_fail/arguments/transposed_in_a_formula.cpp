// MISTAKE: a transposed tensor is added.
// RULE: R1
// EXPECT: ERROR_R1_operation_has_another_name<.*t.*permute
// VARIANTS: equal dynamic
#include "../prelude.hpp"

void step() {
#ifdef FIXED
  [[maybe_unused]] const tensor y = x + permute<seq, batch, d_model>(x);
#else
  [[maybe_unused]] const tensor y = x.t() + x;
#endif
}
