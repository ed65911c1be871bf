// MISTAKE: three tensors are stacked into a dimension of two.
// RULE: R10
// EXPECT: ERROR_R10_stack_has_another_extent<.*stack.*pair, .*extent<2.*extent<3
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct pair : batch_dim<2> {};

void layer() {
#ifdef FIXED
  RESULT r = stack<pair>(x, x);
#else
  RESULT r = stack<pair>(x, x, x);
#endif
}
