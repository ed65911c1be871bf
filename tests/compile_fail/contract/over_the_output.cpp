// MISTAKE: the projection is contracted over its output features.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*d_ff
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, d_model, d_ff>& w_1) {
#ifdef FIXED
  RESULT r = contract<d_model>(x, w_1);
#else
  RESULT r = contract<d_ff>(x, w_1);
#endif
}
