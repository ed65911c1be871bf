// MISTAKE: whether all elements agree is read from the comparison of two tensors.
// RULE: R7
// EXPECT: ERROR_R7_tensor_of_bool_is_no_condition<.*seq.*d_model
// VARIANTS: equal dynamic
#include <dimwise/dimwise.hpp>

#include "../prelude.hpp"

void step() {
#ifdef FIXED
  RESULT y = max<batch, seq, d_model>(indicator(allow(x != x)));
#else
  [[maybe_unused]] const bool same = !(x != x);
#endif
}
