// MISTAKE: the operation is spelled as in another library.
// RULE: R1
// EXPECT: ERROR_R1_operation_has_another_name<.*transpose.*permute
// VARIANTS: equal dynamic
#include "../prelude.hpp"

void step() {
#ifdef FIXED
  [[maybe_unused]] const tensor y = permute<d_model, batch, seq>(x);
#else
  [[maybe_unused]] const tensor y = transpose(x);
#endif
}
