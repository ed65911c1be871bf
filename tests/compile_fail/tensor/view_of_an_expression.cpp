// MISTAKE: a view of an expression, which has no memory.
// RULE: R3
// EXPECT: ERROR_R3_view_and_tensor_differ_in_type<.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor<float, seq> t;
  const tensor sum_of = t + 1;
  tensor_view<const float, seq> y = sum_of;
#else
  extern tensor<float, seq> t;
  tensor_view<const float, seq> y = t + 1;
#endif
}
