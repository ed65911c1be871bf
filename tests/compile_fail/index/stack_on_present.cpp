// MISTAKE: layers are stacked into the batch that they have.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*stack.*pair
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct pair : batch_dim<2> {};

void layer(const tensor<float, pair, d_model>& t) {
#ifdef FIXED
  RESULT r = stack<pair>(x, x);
#else
  RESULT r = stack<pair>(t, t);
#endif
}
