// MISTAKE: whether all elements compare so is asked as in NumPy.
// RULE: R1
// EXPECT: ERROR_R1_operation_has_another_name<.*all.*sum
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void step() {
#ifdef FIXED
  const bool positive = sum<batch, seq, d_model>(indicator(allow(x <= 0.0F))) == 0;
#else
  const bool positive = all(x > 0.0F);
#endif
  (void)positive;
}
