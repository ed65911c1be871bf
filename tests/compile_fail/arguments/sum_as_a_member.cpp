// MISTAKE: the operation is spelled as in another library.
// RULE: R1
// EXPECT: ERROR_R1_operation_has_another_name<.*sum.*sum
// VARIANTS: equal dynamic
#include "../prelude.hpp"

void step() {
#ifdef FIXED
  [[maybe_unused]] const tensor y = sum<seq>(x);
#else
  [[maybe_unused]] const tensor y = x.sum(1);
#endif
}
