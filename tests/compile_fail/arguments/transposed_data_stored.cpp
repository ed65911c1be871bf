// MISTAKE: a tensor is transposed as a data member.
// RULE: R1
// EXPECT: ERROR_R1_operation_has_another_name<.*T.*permute
// VARIANTS: equal dynamic
#include "../prelude.hpp"

void step() {
#ifdef FIXED
  [[maybe_unused]] const tensor y = permute<seq, batch, d_model>(x);
#else
  [[maybe_unused]] const tensor y = x.T;
#endif
}
