// MISTAKE: the operation is spelled as in another library.
// RULE: R1
// EXPECT: ERROR_R1_operation_has_another_name<.*softmax.*softmax
// VARIANTS: equal dynamic
#include "../prelude.hpp"

void step() {
#ifdef FIXED
  [[maybe_unused]] const tensor y = softmax<key>(s);
#else
  [[maybe_unused]] const tensor y = s.softmax(-1);
#endif
}
