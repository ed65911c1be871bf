// MISTAKE: two comparisons joined as conditions.
// RULE: R7
// EXPECT: ERROR_R7_tensor_is_no_condition<.*seq.*d_model
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = where(allow(x > 0.0F) & allow(x < 1.0F), x, 0.0F);
#else
  RESULT y = where(x > 0.0F && x < 1.0F, x, 0.0F);
#endif
}
