// MISTAKE: tensors are joined as in another library.
// RULE: R1
// EXPECT: ERROR_R1_operation_has_another_name<.*cat.*concat
// VARIANTS: equal dynamic
#include "../prelude.hpp"

void step() {
#ifdef FIXED
  [[maybe_unused]] const tensor y = concat<summed<seq, src>>(x, memory);
#else
  [[maybe_unused]] const tensor y = cat(x, memory, 1);
#endif
}
