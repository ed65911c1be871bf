// MISTAKE: a comparison of elements joined with the truth of a number.
// RULE: R7
// EXPECT: ERROR_R7_tensor_is_no_condition<.*seq.*d_model
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
  const tensor<float> limit({2});
#ifdef FIXED
  if (limit > 1.0F) { RESULT y = where(allow(x > 0.0F), x, 0.0F); }
#else
  if (limit > 1.0F && x > 0.0F) { RESULT y = x; }
#endif
}
