// MISTAKE: a view of a tensor that is gone at the end of the line.
// RULE: R3
// EXPECT: ERROR_R3_view_and_tensor_differ_in_type<.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor<float, seq> t;
  const tensor kept = t + 1;
  tensor_view<const float, seq> y = kept;
#else
  extern tensor<float, seq> t;
  tensor_view<const float, seq> y = evaluate(t + 1);
#endif
}
