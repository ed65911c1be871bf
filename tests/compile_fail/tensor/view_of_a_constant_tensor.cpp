// MISTAKE: a view that writes, over a constant tensor.
// RULE: R3
// EXPECT: ERROR_R3_view_and_tensor_differ_in_type<.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern const tensor<float, seq> t;
  tensor_view<const float, seq> y = t;
#else
  extern const tensor<float, seq> t;
  tensor_view<float, seq> y = t;
#endif
}
