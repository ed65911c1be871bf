// MISTAKE: decoder and encoder states are stacked.
// RULE: R10
// EXPECT: ERROR_R10_operands_differ_in_another_dimension<.*stack.*pair
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct pair : batch_dim<2> {};

void layer() {
#ifdef FIXED
  RESULT r = stack<pair>(x, x);
#else
  RESULT r = stack<pair>(x, memory);
#endif
}
