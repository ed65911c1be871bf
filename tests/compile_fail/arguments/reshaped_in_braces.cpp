// MISTAKE: the operation is spelled as in another library, with a list in braces.
// RULE: R1
// EXPECT: ERROR_R1_operation_has_another_name<.*view.*split.*merge
// VARIANTS: equal dynamic
#include "../prelude.hpp"

void step() {
#ifdef FIXED
  [[maybe_unused]] const tensor y = merge<seq, d_model>(x);
#else
  [[maybe_unused]] const tensor y = x.view({2, 120});
#endif
}
